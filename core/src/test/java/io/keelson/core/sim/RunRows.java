package io.keelson.core.sim;

import io.keelson.core.run.AgentRow;
import io.keelson.core.run.Changes.Lane;
import io.keelson.core.run.Changes.StepResult;
import io.keelson.core.run.Changes.Timer;
import io.keelson.core.run.Changes.TimerKey;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.RunView;
import io.keelson.core.run.TaskRow;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/** All rows of one run, those of earlier attempts included. A commit edits a copy and puts it in the place of the old. */
final class RunRows {

    record ResultKey(UUID stepId, int epoch) {}

    record ArtifactKey(int attempt, String name) {}

    final NewRun accepted;
    Saved.Run run;
    Saved.Head head;
    final Map<UUID, Saved.Agent> agents;
    final Map<UUID, Saved.Task> tasks;
    final Map<UUID, Saved.Step> steps;
    final Map<Lane, Saved.Place> queue;
    final Map<TimerKey, Timer> timers;
    final Map<ResultKey, StepResult> results;
    final Map<ArtifactKey, UUID> artifacts;

    RunRows(NewRun accepted) {
        this.accepted = accepted;
        this.agents = new LinkedHashMap<>();
        this.tasks = new LinkedHashMap<>();
        this.steps = new LinkedHashMap<>();
        this.queue = new LinkedHashMap<>();
        this.timers = new LinkedHashMap<>();
        this.results = new LinkedHashMap<>();
        this.artifacts = new LinkedHashMap<>();
    }

    RunRows(RunRows other) {
        this.accepted = other.accepted;
        this.run = other.run;
        this.head = other.head;
        this.agents = new LinkedHashMap<>(other.agents);
        this.tasks = new LinkedHashMap<>(other.tasks);
        this.steps = new LinkedHashMap<>(other.steps);
        this.queue = new LinkedHashMap<>(other.queue);
        this.timers = new LinkedHashMap<>(other.timers);
        this.results = new LinkedHashMap<>(other.results);
        this.artifacts = new LinkedHashMap<>(other.artifacts);
    }

    UUID id() {
        return accepted.id();
    }

    /** Those of the current attempt, as are the next two. */
    List<Saved.Agent> agentsNow() {
        return agents.values().stream().filter(a -> a.attempt() == run.attempt()).toList();
    }

    List<Saved.Task> tasksNow() {
        return tasks.values().stream().filter(t -> t.ofAttempt() == run.attempt()).toList();
    }

    List<Saved.Step> stepsNow() {
        return steps.values().stream().filter(s -> s.ofAttempt() == run.attempt()).toList();
    }

    Stream<Saved.Step> stepsOf(UUID taskId) {
        return steps.values().stream().filter(step -> step.taskId().equals(taskId));
    }

    /** The lane of the work queue that a step travels in. */
    Lane laneOf(Saved.Step step) {
        return new Lane(step.taskId(), tasks.get(step.taskId()).spec().parallelSteps() ? step.position() : 0);
    }

    /** A view built from nothing but these rows, in the order in which the server's loader builds one. */
    RunView load() {
        boolean plan = switch (run.state()) {
            case CREATED, PENDING, PLANNING, AWAITING_APPROVAL, RETRYING, FAILED -> true;
            case RUNNING, PAUSED, BUDGET_EXCEEDED, ESCALATED, RESUMING, COMPLETED, CANCELLED, SKIPPED -> false;
        };
        RunView view = new RunView(run.restore(accepted, head), plan ? accepted.plan() : null);
        Map<UUID, AgentRow> agentRows = new HashMap<>();
        agentsNow().stream().sorted(Comparator.comparing(Saved.Agent::number)).forEach(agent -> {
            agentRows.put(agent.id(), agent.restore());
            view.add(agentRows.get(agent.id()));
        });
        Map<UUID, TaskRow> taskRows = new HashMap<>();
        List<Saved.Task> inOrder = tasksNow().stream()
                .sorted(Comparator.comparing(Saved.Task::sequence).thenComparing(Saved.Task::itemIndex)).toList();
        for (Saved.Task task : inOrder) {
            taskRows.put(task.id(), task.restore(agentRows.get(task.agentId()), taskRows.get(task.groupId())));
            view.add(taskRows.get(task.id()));
        }
        inOrder.forEach(task -> task.upstreams().stream().map(taskRows::get)
                .sorted(Comparator.comparing(TaskRow::sequence))
                .forEach(up -> view.link(taskRows.get(task.id()), up)));
        stepsNow().stream().sorted(Comparator.comparing(Saved.Step::position).thenComparing(Saved.Step::turn))
                .forEach(step -> view.add(step.restore(taskRows.get(step.taskId()))));
        artifacts.forEach((key, step) -> {
            if (key.attempt() == run.attempt()) {
                view.addArtifact(key.name(), step);
            }
        });
        queue.forEach((lane, place) -> view.restoreLane(lane.taskId(), lane.lane(), place.item().holder()));
        timers.keySet().forEach(key -> view.restoreEvaluation(key.kind(), key.subject()));
        view.restoreSlots();
        return view;
    }
}
