package io.keelson.cli.view;

import io.keelson.api.run.ResultSource;
import io.keelson.api.run.Step;
import io.keelson.api.run.StepAttempt;
import io.keelson.api.run.Task;
import io.keelson.api.run.TaskFlow;
import io.keelson.api.run.TaskRound;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A task with its steps, and what each of their attempts was given and came to. */
public final class TaskDetails {

    private static final int MAX_ROUNDS = 20;

    private final Instant now;
    private final Style style;
    private final List<String> lines = new ArrayList<>();

    public TaskDetails(Task task, Instant now, Style style) {
        this.now = now;
        this.style = style;
        lines.add(style.bold(TerminalText.clean(task.key())) + "  " + style.state(task.state()) + "  "
                + style.dim(task.id()));
        if (!task.title().equals(task.key())) {
            lines.add(TerminalText.clean(task.title()));
        }
        lines.add((task.round() == null ? ""
                : "round " + task.round()
                        + (task.maxRounds() == null ? "" : " of " + AmountText.count(task.maxRounds())) + ", ")
                + "attempt " + task.attemptNumber() + times(task.startedAt(), task.completedAt()));
        if (task.errorCode() != null) {
            lines.add(style.red(ErrorText.line(task.errorCode(), task.errorMessage())));
        }
        place(task.flow());
        value("output", task.output(), "");
    }

    /** The branches and groups around the task, and the branches that it chooses from. */
    private void place(@Nullable TaskFlow flow) {
        if (flow == null) {
            return;
        }
        flow.within().forEach(place -> lines.add(place.branch() == null ? "in group " + TerminalText.clean(place.of())
                : "in branch " + TerminalText.clean(place.branch()) + " of switch " + TerminalText.clean(place.of())));
        flow.branches().forEach(branch -> lines.add("branch " + TerminalText.clean(branch.name())
                + (branch.when() == null ? ", if no condition holds" : " if " + TerminalText.clean(branch.when()))));
    }

    public List<String> lines() {
        return List.copyOf(lines);
    }

    /** Adds the last rounds of a task with {@code repeat}. */
    public void addRounds(List<TaskRound> rounds) {
        int before = Math.max(0, rounds.size() - MAX_ROUNDS);
        if (before > 0) {
            lines.add("");
            lines.add(style.dim(before + " earlier rounds"));
        }
        for (TaskRound round : rounds.subList(before, rounds.size())) {
            lines.add("");
            lines.add(style.bold("round " + round.round()) + "  " + style.state(round.state())
                    + (round.attempts() > 1 ? ", " + round.attempts() + " attempts" : "")
                    + times(round.startedAt(), round.completedAt())
                    + (round.tokensUsed() == 0 ? "" : ", " + round.tokensUsed() + " tokens")
                    + (round.folded() ? ", folded" : ""));
            value("output", round.output(), "  ");
            error(round.errorCode(), round.errorMessage(), "  ");
        }
    }

    /**
     * Adds a step.
     *
     * @param attempts oldest first; none where the step was never claimed
     * @param caller name of the step whose program has made the call; null for any other step
     */
    public void add(Step step, List<StepAttempt> attempts, @Nullable String caller) {
        lines.add("");
        lines.add(style.bold(TerminalText.clean(step.name())) + "  "
                + (step.tool() == null ? step.kind() : TerminalText.clean(step.tool())) + "  "
                + style.state(step.state()) + (caller == null ? "" : ", called by " + TerminalText.clean(caller)));
        ResultSource source = step.resultFrom();
        if (source != null) {
            lines.add(
                    "  took over the result of step " + source.stepId() + " of run " + source.runId() + ", at no cost");
        }
        if (attempts.isEmpty()) {
            value("input of the plan", step.input(), "  ");
            value("output", step.output(), "  ");
            error(step.errorCode(), step.errorMessage(), "  ");
        }
        attempts.forEach(this::add);
    }

    private void add(StepAttempt attempt) {
        String number = attempt.attempt() == null ? "attempt" : "attempt " + attempt.attempt();
        String worker = attempt.worker() == null ? "" : ", worker " + TerminalText.clean(attempt.worker());
        lines.add("  " + number + " " + style.state(attempt.outcome()) + worker
                + times(attempt.startedAt(), attempt.completedAt())
                + (attempt.tokens() == 0 ? "" : ", " + attempt.tokens() + " tokens"));
        value("input", attempt.input(), "    ");
        value("output", attempt.output(), "    ");
        error(attempt.errorCode(), attempt.errorMessage(), "    ");
    }

    private String times(@Nullable Instant from, @Nullable Instant to) {
        return from == null ? to == null ? "" : ", at " + to
                : ", from " + from + ", took " + AmountText.duration(Duration.between(from, to == null ? now : to));
    }

    private void value(String name, JsonNode value, String indent) {
        if (value.isNull()) {
            return;
        }
        List<String> text = value.toPrettyString().lines().map(TerminalText::visible).toList();
        lines.add(indent + style.dim(name + ":") + (text.size() == 1 ? " " + text.getFirst() : ""));
        if (text.size() > 1) {
            text.forEach(line -> lines.add(indent + "  " + line));
        }
    }

    private void error(@Nullable String code, @Nullable String message, String indent) {
        if (code != null) {
            ErrorText.block(message == null ? code : code + ": " + message, 0)
                    .forEach(line -> lines.add(indent + style.red(line)));
        }
    }
}
