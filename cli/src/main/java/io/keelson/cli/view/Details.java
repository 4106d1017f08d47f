package io.keelson.cli.view;

import io.keelson.api.run.Run;
import io.keelson.api.run.RunAttempt;
import io.keelson.api.run.RunUndo;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Text of a run with all its tasks and steps. */
public final class Details {

    private Details() {}

    /**
     * @param attempts of the run, from the first on
     * @param blocked ids of running steps that no server or worker executes while the run is stopped
     * @param runTree what its steps have started
     */
    public static List<String> lines(Run run, List<RunAttempt> attempts, List<Task> tasks, List<Step> steps,
            Set<String> blocked, RunTree runTree, Instant now, Style style) {
        List<String> lines = new ArrayList<>();
        lines.add(style.bold(TerminalText.clean(run.name())) + "  " + style.state(run) + "  " + style.dim(run.id()));
        if (run.goal() != null && !run.goal().equals(run.name())) {
            lines.add(TerminalText.clean(run.goal()));
        }
        boolean later = run.startAt() != null && run.state().equals("created");
        lines.add("created " + run.createdAt() + (later ? ", starts at " + run.startAt() : "")
                + (run.startedAt() == null ? "" : ", started " + run.startedAt())
                + (run.completedAt() == null ? "" : ", ended " + run.completedAt())
                + (AmountText.took(run).isEmpty() ? "" : ", took " + AmountText.took(run)) + ", attempt "
                + run.attemptNumber() + " of " + run.maxAttempts()
                + plans(run)
                + (run.forkedFrom() == null ? "" : ", forked from " + run.forkedFrom()));
        origin(run, runTree).ifPresent(lines::add);
        lines.add(money(run));
        if (attempts.size() > 1) {
            attempts.forEach(attempt -> lines.add(money(attempt, style)));
        }
        if (!run.inputs().isEmpty()) {
            lines.add("inputs " + TerminalText.clean(run.inputs().toString()));
        }
        lines.add("");
        Map<String, List<Step>> byTask = steps.stream().collect(Collectors.groupingBy(Step::taskId));
        Table table = new Table("TASK", "STEP", "TOOL", "STATE", "TRY", "TOOK", "REMARK");
        for (Task task : tasks) {
            table.row(TerminalText.clean(task.key()), "", "", style.state(task.effectiveState()),
                    task.attemptNumber() > 1 ? "" + task.attemptNumber() : "",
                    took(task.effectiveState(), task.startedAt(), task.completedAt(), now),
                    remark(task, byTask.getOrDefault(task.id(), List.of()), style));
            for (Step step : byTask.getOrDefault(task.id(), List.of())) {
                table.row("", TerminalText.clean(step.name()), TerminalText.clean(String.valueOf(step.tool())),
                        style.state(blocked.contains(step.id()) ? "waiting" : step.state()),
                        step.attempt() + "/" + step.maxAttempts(),
                        blocked.contains(step.id()) ? ""
                                : took(step.state(), step.startedAt(), step.completedAt(), now),
                        blocked.contains(step.id()) ? style.yellow("waits for the budget") : remark(step, style));
                started(table, runTree.of(step.id()), "  ", style);
            }
        }
        RunTree before = runTree.without(steps.stream().map(Step::id).toList());
        if (before.size() > 0) {
            table.row(style.dim("(before)"), "", "", "", "", "", "");
            started(table, before, "  ", style);
        }
        lines.addAll(tasks.isEmpty() && before.size() == 0 ? List.of(style.dim("no tasks yet"))
                : steps.isEmpty() ? table.withoutEmpty().lines(style) : table.lines(style));
        return lines;
    }

    /** Runs stand below the step that has started them, and their own below them. */
    private static void started(Table table, RunTree runTree, String indent, Style style) {
        for (RunTree.Member member : runTree.members()) {
            Run run = member.run();
            int unseen = run.childCount() - member.started().members().size();
            table.row("", indent + TerminalText.clean(run.name()), "", style.state(run),
                    run.attemptNumber() > 1 ? "" + run.attemptNumber() : "",
                    AmountText.took(run),
                    run.id() + style.dim("  cost " + amount(run.totalCost())
                            + (unseen > 0 ? ", more child runs: " + unseen : ""))
                            + (run.errorCode() == null ? "" : "  " + style.red(TerminalText.clean(run.errorCode()))));
            started(table, member.started(), indent + "  ", style);
        }
    }

    /** The version of the plan, if it was replaced since the run's start. */
    private static String plans(Run run) {
        return run.planVersion() == 0 ? ", no plan yet"
                : run.planVersion() > 1 ? ", plan version " + run.planVersion() : "";
    }

    /** The origin of the run and its child runs; empty for most runs. */
    private static Optional<String> origin(Run run, RunTree runTree) {
        List<String> parts = new ArrayList<>();
        if (run.recipeId() != null) {
            parts.add("of recipe " + run.recipeId() + " version " + run.recipeVersion());
        }
        if (run.scheduleId() != null) {
            parts.add("by schedule " + run.scheduleId()
                    + (run.scheduledFor() == null ? "" : " for " + run.scheduledFor()));
        }
        if (run.parentRunId() != null) {
            parts.add("child of run " + run.parentRunId());
        }
        if (run.undoes() != null) {
            parts.add("undoes run " + run.undoes());
        }
        RunUndo undo = run.undo();
        if (undo != null) {
            parts.add("undo: " + undo(undo) + (undo.runId() == null ? "" : " by run " + undo.runId()));
        }
        if (runTree.size() > 0) {
            parts.add("child runs: " + runTree.size() + ", cost " + amount(runTree.cost()));
        } else if (run.childCount() > 0) {
            parts.add("child runs: " + run.childCount());
        }
        return parts.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", parts));
    }

    private static String money(Run run) {
        BigDecimal uncollected = Objects.requireNonNullElse(run.creditsUncollected(), BigDecimal.ZERO);
        return "credits: " + amount(run.creditsReserved()) + " reserved, " + amount(run.creditsCharged()) + " charged, "
                + amount(run.creditsRefunded()) + " refunded"
                + (uncollected.signum() == 0 ? "" : ", " + amount(uncollected) + " uncollected")
                + (run.hardLimitUsd() == null ? "" : "; hard limit " + amount(run.hardLimitUsd()))
                + (run.softLimitUsd() == null ? "" : "; soft limit " + amount(run.softLimitUsd()))
                + run.taskBudgets().stream().map(task -> "; " + AmountText.used(task)).collect(Collectors.joining());
    }

    /** Reservation, charges, refund and outcome of an attempt. */
    private static String money(RunAttempt attempt, Style style) {
        BigDecimal uncollected = Objects.requireNonNullElse(attempt.creditsUncollected(), BigDecimal.ZERO);
        return "  attempt " + attempt.attemptNumber() + ": " + amount(attempt.creditsReserved()) + " reserved, "
                + amount(attempt.creditsCharged()) + " charged, " + amount(attempt.creditsRefunded()) + " refunded"
                + (uncollected.signum() == 0 ? "" : ", " + amount(uncollected) + " uncollected") + "  "
                + style.state(attempt.state())
                + (attempt.errorCode() == null ? "" : style.dim("  " + TerminalText.clean(attempt.errorCode())));
    }

    private static String amount(@Nullable BigDecimal amount) {
        return amount == null ? "0" : amount.stripTrailingZeros().toPlainString();
    }

    private static String remark(Task task, List<Step> steps, Style style) {
        if (task.ticketId() != null) {
            return style.yellow("ticket " + task.ticketId());
        }
        if (task.state().equals("awaiting_human")) {
            return style.yellow("its output waits for a person"
                    + (task.errorMessage() == null ? "" : ": " + TerminalText.clean(task.errorMessage())));
        }
        if (task.state().equals("completed")) {
            return style.dim(TerminalText.clean(task.title())
                    + (task.verifierScore() == null ? "" : " (score " + task.verifierScore() + ")"));
        }
        return next(task.nextRunAt(), style)
                + remark(task.errorCode(), steps.stream().anyMatch(step -> sameError(task, step)) ? null
                        : task.errorMessage(), TerminalText.clean(task.title()), style)
                + (task.failureIgnored() ? style.dim(" (failure ignored)") : "")
                + (task.superseded() ? style.dim(" (replaced)") : "");
    }

    /** Whether the row of the step has the message of the task. */
    private static boolean sameError(Task task, Step step) {
        return step.errorMessage() != null && step.errorMessage().equals(task.errorMessage())
                && Objects.equals(step.errorCode(), task.errorCode());
    }

    private static String remark(Step step, Style style) {
        if (step.state().equals("waiting")) {
            String until = step.nextRunAt() == null ? "" : "until " + step.nextRunAt().truncatedTo(ChronoUnit.SECONDS);
            return style.yellow(Summary.awaited(step)
                    .map(name -> "waits for the signal '" + name + "'" + (until.isEmpty() ? "" : " " + until))
                    .orElse(until));
        }
        if (step.resultFrom() != null) {
            return style.dim("result of run " + step.resultFrom().runId() + ", at no cost");
        }
        String next = step.state().equals("awaiting_retry") ? next(step.nextRunAt(), style) : "";
        return next + remark(step.errorCode(), step.errorMessage(), "", style)
                + (step.failureIgnored() ? style.dim(" (failure ignored)") : "");
    }

    private static String next(@Nullable Instant at, Style style) {
        return at == null ? "" : style.yellow("again at " + at.truncatedTo(ChronoUnit.SECONDS)) + "  ";
    }

    /** From the begin to the end, or until now while it is at work; empty while it waits. */
    private static String took(String state, @Nullable Instant from, @Nullable Instant to, Instant now) {
        boolean known = to != null || Phase.of(state) == Phase.ACTIVE && !state.equals("waiting");
        return from == null || !known ? "" : AmountText.duration(Duration.between(from, to == null ? now : to));
    }

    private static String remark(@Nullable String code, @Nullable String message, String otherwise, Style style) {
        return code == null ? style.dim(otherwise)
                : style.red(ErrorText.line(code, message));
    }

    /** The state of an undo, whether it waits for a person, and the counts of its tasks once it has ended. */
    public static String undo(RunUndo undo) {
        List<String> counts = new ArrayList<>();
        count(undo.undone(), "undone", counts);
        count(undo.byHand(), "done by hand", counts);
        count(undo.notDone(), "never done", counts);
        count(undo.notUndone(), "not undone", counts);
        String state = undo.state().equals("nothing") ? "nothing to undo" : undo.state().replace('_', ' ');
        return state + (counts.isEmpty() ? "" : " (" + String.join(", ", counts) + ")")
                + (undo.waitsForHumans() == 0 ? "" : ", waits for a person");
    }

    private static void count(int tasks, String what, List<String> counts) {
        if (tasks > 0) {
            counts.add(tasks + " " + what);
        }
    }
}
