package io.keelson.cli.view;

import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.cli.view.TaskLine.StepLine;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A run as it is followed: its document, its tasks and their open steps, brought forward by its events. Names come from
 * lists that are read now and then; an event of a task that no list has named yet is kept all the same.
 */
public final class RunModel {

    private Run run;
    private final Map<String, TaskLine> tasks = new HashMap<>();
    /** Named tasks in plan order, children of a {@code for_each} behind their group. */
    private List<TaskLine> ordered = List.of();
    private final Map<String, Step> steps = new HashMap<>();
    private boolean unnamed;
    private boolean waitsForAnswer;

    public RunModel(Run run) {
        this.run = run;
    }

    public Run run() {
        return run;
    }

    public void run(Run latest) {
        this.run = latest;
    }

    /** True when events named tasks or open steps whose names are not known yet. */
    public boolean unnamed() {
        return unnamed;
    }

    /**
     * True when a step has asked a person or waits for a signal since steps were listed, so that its question or the
     * signal's name may have been a template then.
     */
    public boolean waitsForAnswer() {
        return waitsForAnswer;
    }

    /** Takes in the tasks of the current attempt. */
    public void name(Collection<Task> list, Collection<Step> stepList) {
        Map<String, List<TaskLine>> byGroup = new LinkedHashMap<>();
        List<TaskLine> top = new ArrayList<>();
        for (Task task : list) {
            TaskLine line = named(task);
            if (task.superseded()) {
                continue;
            }
            String group = line.groupKey();
            (group == null ? top : byGroup.computeIfAbsent(group, key -> new ArrayList<>())).add(line);
        }
        List<TaskLine> all = new ArrayList<>(list.size());
        for (TaskLine line : top) {
            all.add(line);
            all.addAll(Objects.requireNonNullElse(byGroup.remove(line.key), List.of()));
        }
        byGroup.values().forEach(all::addAll);
        ordered = all;
        name(stepList);
        unnamed = false;
        waitsForAnswer = false;
    }

    /** True when events named tasks that the list of the current attempt does not have. */
    public boolean lacksNames() {
        return tasks.values().stream().anyMatch(task -> !task.known());
    }

    /** Takes in tasks that are not shown any more, of earlier attempts or replaced, so that what happened has names. */
    public void nameFormer(Collection<Task> list, Collection<Step> stepList) {
        list.forEach(this::named);
        name(stepList);
    }

    private void name(Collection<Step> stepList) {
        for (Step step : stepList) {
            steps.put(step.id(), step);
            TaskLine task = line(step.taskId());
            StepLine open = task.openSteps.get(step.id());
            if (open != null) {
                open.named = step;
            }
            if (task.failureIgnored != null && task.failureIgnored.id.equals(step.id())) {
                task.failureIgnored.named = step;
            }
        }
    }

    private TaskLine named(Task task) {
        TaskLine line = tasks.get(task.id());
        if (line == null) {
            line = line(task.id());
            line.state = task.state();
            line.startedAt = task.startedAt();
            line.endedAt = task.completedAt();
        }
        line.key = TerminalText.clean(task.key());
        line.title = TerminalText.clean(task.title());
        TaskLine group = task.groupId() == null ? null : tasks.get(task.groupId());
        line.label = group == null || group.title.equals(line.title) ? "" : " (" + line.title + ")";
        line.dependsOn = task.dependsOn();
        line.maxRounds = task.maxRounds();
        line.attempt = Math.max(line.attempt, task.attemptNumber());
        return line;
    }

    /** Takes in what happened; events come in order, each once. */
    public void apply(Event event) {
        String to = event.payload().path("to").asString(null);
        if (event.eventType().equals("escalation_resolved")) {
            String ticket = event.payload().path("ticket_id").asString("");
            tasks.values().stream().filter(task -> ticket.equals(task.ticket)).forEach(task -> task.ticket = null);
        }
        if (event.taskId() == null) {
            return;
        }
        if (!tasks.containsKey(event.taskId())) {
            unnamed = true;
        }
        TaskLine task = line(event.taskId());
        if (event.eventType().equals("task_carried")) {
            task.state = "completed";
        } else if (event.eventType().equals("escalation_opened")) {
            task.ticket = event.payload().path("ticket_id").asString(null);
            task.error = TerminalText.clean(event.payload().path("message").asString(""));
        } else if (to != null && event.stepId() == null) {
            move(task, to, event);
        } else if (to != null) {
            moveStep(task, Objects.requireNonNull(event.stepId()), to, event);
        }
    }

    private static void move(TaskLine task, String to, Event event) {
        task.state = to;
        int attempt = event.payload().path("attempt_number").asInt(task.attempt);
        if (attempt > task.attempt) {
            task.failureIgnored = null;
        }
        task.attempt = attempt;
        task.nextRunAt = nextRun(event);
        if (to.equals("running") && task.startedAt == null) {
            task.startedAt = event.createdAt();
        }
        if (Phase.of(to).ended()) {
            task.endedAt = event.createdAt();
            task.error = error(event);
            task.openSteps.clear();
        } else {
            task.endedAt = null;
            task.error = to.equals("awaiting_human") ? feedback(event) : error(event);
        }
    }

    static @Nullable Instant nextRun(Event event) {
        JsonNode delay = event.payload().path("retry_after_seconds");
        Instant at = event.createdAt();
        return delay.isNumber() && at != null ? at.plusMillis(Math.round(delay.asDouble() * 1_000)) : null;
    }

    /** A verifier's feedback on an output that waits for a person. */
    private static @Nullable String feedback(Event event) {
        String reason = event.payload().path("reason").asString("");
        String feedback = event.payload().path("feedback").asString("");
        String text = reason + (reason.isEmpty() || feedback.isEmpty() ? "" : ": ") + feedback;
        return text.isEmpty() ? null : TerminalText.clean(text);
    }

    private void moveStep(TaskLine task, String stepId, String to, Event event) {
        if (Phase.of(to).ended()) {
            task.openSteps.remove(stepId);
            if (event.payload().path("failure_ignored").asBoolean(false)) {
                StepLine step = new StepLine(to, stepId);
                step.error = error(event);
                step.named = steps.get(stepId);
                unnamed |= step.named == null;
                task.failureIgnored = step;
            }
            return;
        }
        StepLine step = task.openSteps.computeIfAbsent(stepId, id -> new StepLine(to, id));
        step.state = to;
        step.error = error(event);
        step.nextRunAt = nextRun(event);
        Step listed = steps.get(stepId);
        if (to.equals("waiting_approval")
                || to.equals("waiting") && listed != null && "signal.wait".equals(listed.tool())) {
            waitsForAnswer = true;
        }
        step.named = listed;
        if (step.named == null || waitsForAnswer) {
            unnamed = true;
        }
    }

    /** Failed calls of an agent are not shown as failures: the agent handles them. */
    static boolean isCall(@Nullable Step step) {
        return step != null && "call".equals(step.kind());
    }

    private TaskLine line(String id) {
        return tasks.computeIfAbsent(id, TaskLine::new);
    }

    static @Nullable String error(Event event) {
        String code = event.payload().path("error_code").asString(null);
        return code == null ? null : ErrorText.line(code, event.payload().path("error_message").asString(""));
    }

    List<TaskLine> tasks() {
        return ordered;
    }

    @Nullable TaskLine task(@Nullable String id) {
        return id == null ? null : tasks.get(id);
    }

    /** The step of that id as it was last listed; null when none was. */
    @Nullable Step step(@Nullable String id) {
        return id == null ? null : steps.get(id);
    }

    /** Tasks that are known by name. */
    public int size() {
        return ordered.size();
    }

    int count(Phase phase) {
        return (int) ordered.stream().filter(task -> task.phase() == phase).count();
    }

    int ended() {
        return (int) ordered.stream().filter(task -> task.phase().ended()).count();
    }

    /** A step with a pending decision while nothing else runs: only a person can continue the run now. */
    public boolean waitsForHuman() {
        if (run.ended()) {
            return false;
        }
        Phase own = Phase.of(run.state());
        if (own != Phase.ACTIVE) {
            return own == Phase.HUMAN;
        }
        if ("acceptance".equals(run.gate())) {
            return true;
        }
        boolean waiting = false;
        for (int i = 0; i < ordered.size(); i++) {
            TaskLine task = ordered.get(i);
            if (task.state.equals("queued") || task.state.equals("assigned")) {
                return false;
            }
            Phase phase = task.phase();
            if (phase == Phase.RETRY || phase == Phase.ACTIVE && !isGroup(i)) {
                return false;
            }
            waiting |= phase == Phase.HUMAN;
        }
        return waiting;
    }

    /** A group's first child follows it in the list. */
    private boolean isGroup(int index) {
        TaskLine task = ordered.get(index);
        return task.openSteps.isEmpty() && index + 1 < ordered.size()
                && task.key.equals(ordered.get(index + 1).groupKey());
    }
}
