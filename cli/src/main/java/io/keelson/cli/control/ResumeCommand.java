package io.keelson.cli.control;

import io.keelson.api.run.Run;
import io.keelson.api.run.TaskBudget;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.Sleep;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.Runs;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

@Command(name = "resume",
        description = "Resumes a paused run, or one whose failures wait for answers: all failed work is tried again.",
        footer = "  keelson resume latest --watch")
public final class ResumeCommand extends ActionCommand {

    private static final String HELD = "budget_exceeded";
    private static final int POLLS = 4;
    private static final Duration POLL_INTERVAL = Duration.ofMillis(200);

    @Override
    public Run act(Keelson keelson, Runs runs, String id) {
        boolean held = runs.get(id).state().equals(HELD);
        try {
            Run after = runs.resume(id);
            return held ? goneOn(runs, after) : after;
        } catch (KeelsonException e) {
            if (held && e.code().equals("BUDGET_EXCEEDED")) {
                throw stillHeld(runs, runs.get(id), e);
            }
            throw e;
        }
    }

    /** The run may stop again at once, if its hard limit or its task's budget does not cover the known cost of its next step. */
    private static Run goneOn(Runs runs, Run resumed) {
        Run run = resumed;
        for (int left = POLLS; left > 0 && !run.ended(); left--) {
            Sleep.of(POLL_INTERVAL);
            run = runs.get(run.id());
            if (run.state().equals(HELD)) {
                throw stillHeld(runs, run, null);
            }
        }
        return run;
    }

    private static CliException stillHeld(Runs runs, Run run, @Nullable Throwable cause) {
        BigDecimal limit = run.hardLimitUsd();
        List<TaskBudget> tasks = run.taskBudgets().stream().filter(TaskBudget::exceeded).toList();
        if (!tasks.isEmpty()) {
            return CliException.failed("BUDGET_EXCEEDED", "the run still cannot continue: "
                    + tasks.stream().map(AmountText::used).collect(Collectors.joining(", "))
                    + "; raise the budget with: "
                    + ProgramName.current() + " budget " + run.id()
                    + AmountText.raise(tasks, runs.explain(run.id()).reasons()) + "   # this much or more", cause);
        }
        BigDecimal charged = run.creditsCharged();
        return CliException.failed("BUDGET_EXCEEDED", "the run still cannot continue: it was charged "
                + AmountText.credits(charged == null ? BigDecimal.ZERO : charged)
                + (limit == null
                        ? " and its workspace has too few; grant some with: " + ProgramName.current()
                                + " credits grant AMOUNT"
                        : " of at most " + AmountText.decimal(limit) + "; raise the limit with: "
                                + ProgramName.current()
                                + " budget "
                                + run.id() + AmountText.raise(tasks, runs.explain(run.id()).reasons())
                                + "   # this much or more"),
                cause);
    }
}
