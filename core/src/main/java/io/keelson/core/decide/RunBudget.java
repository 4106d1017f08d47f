package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Changes of a run's limits, and the resume of a run that its limit has stopped. */
final class RunBudget {
    /** The error of a run that a person has let finish at its limit. */
    private static final String EXCEEDED = "BUDGET_EXCEEDED";

    private RunBudget() {}

    /** A stopped run resumes if its limit and its workspace leave credits. */
    static Reply resume(Decision d) {
        if (d.run.gate == RunRow.Gate.FINISHING) {
            return finishing(d);
        }
        Reply.Rejected refusal = provide(d);
        return refusal == null ? Resumption.resume(d) : refusal;
    }

    /** Provides credits; a refusal for a used-up limit names the least one with which the run continues. */
    private static Reply.@Nullable Rejected provide(Decision d) {
        Reply.Rejected refusal = Credits.provide(d);
        return refusal == null || !refusal.code().equals(EXCEEDED) ? refusal
                : new Reply.Rejected(EXCEEDED, refusal.message() + ": " + remedy(d), refusal.current(),
                        refusal.allowed());
    }

    /** The command that continues a stopped run, and its least amount, as text for users. */
    static String remedy(Decision d) {
        HardLimit.Scope own = HardLimit.run(d);
        List<TaskBudgetRow> tasks = TaskBudgets.stopping(d.view);
        boolean used = own != null && own.charged().compareTo(own.limit()) >= 0;
        BigDecimal least = LimitStop.leastLimit(d.view, d.funds.prices());
        if (used || own != null && tasks.isEmpty() && least.compareTo(own.limit()) > 0) {
            return raising(d, "limit", " --hard-limit " + Amounts.text(least));
        }
        return tasks.isEmpty()
                ? "grant credits with `keelson credits grant AMOUNT`, then `keelson resume " + d.run.id() + "`"

                : raising(d, "budget", tasks.stream().map(budget -> " --task " + budget.task() + "="
                        + Amounts.text(LimitStop.leastBudget(d.view, d.funds.prices(), budget)))
                        .collect(Collectors.joining()));
    }

    private static String raising(Decision d, String what, String options) {
        return "raise the " + what + " with `keelson budget " + d.run.id() + options + "` or more";
    }

    /** A stopped run continues, and this model takes all further turns of its agents, if its limit and its workspace leave credits. */
    static Reply downgrade(Decision d, String model) {
        Reply.Rejected notCheaper = notCheaper(d, model);
        Reply.Rejected refusal = notCheaper == null ? provide(d) : notCheaper;
        if (refusal != null) {
            return refusal;
        }
        d.run.turnModel = model;
        d.note(new RunPayload.Downgraded(model, d.by()));
        Holds.compute(d);
        return Resumption.resume(d);
    }

    /** Why turns by this model would not be cheaper; null if they are. */
    private static Reply.@Nullable Rejected notCheaper(Decision d, String model) {
        List<String> present = d.view.tasks.values().stream().filter(task -> !task.terminal() && !task.superseded)
                .map(Rungs::terms)
                .filter(terms -> terms != null && terms.runsOn() == RunsOn.SERVER && terms.model() != null)
                .map(terms -> Objects.requireNonNullElse(d.run.turnModel, String.valueOf(terms.model()))).distinct()
                .toList();
        if (present.isEmpty()) {
            return new Reply.Rejected("NO_TURNS_LEFT",
                    "no turn is left that the server takes: workers choose their models",
                    d.run.state.wire(), List.of("cancel"));
        }
        Prices prices = d.funds.prices();
        String cheap = present.stream().filter(each -> prices.dearer(model, each)).findFirst()
                .orElse(present.stream().noneMatch(each -> prices.dearer(each, model)) ? present.getFirst() : null);
        return cheap == null ? null
                : new Reply.Rejected("MODEL_NOT_CHEAPER", "the model '" + model
                        + "' is not cheaper than '" + cheap + "', which takes turns now", d.run.state.wire(),
                        List.of("cancel"));
    }

    /** Marks a stopped run to end as soon as none of its steps runs. */
    static Reply finish(Decision d) {
        d.run.gate = RunRow.Gate.FINISHING;
        d.note(new RunPayload.Finishing(d.by()));
        return Reply.CHANGED;
    }

    static Reply.Rejected finishing(Decision d) {
        return new Reply.Rejected("RUN_FINISHING", "the run ends with what runs now, as a person has decided",
                d.run.state.wire(), List.of("cancel"));
    }

    /** Ends a finishing run if none of its steps runs; called after each decision. */
    static void finished(Decision d) {
        if (d.run.gate == RunRow.Gate.FINISHING && d.run.state == RunState.BUDGET_EXCEEDED
                && d.view.steps.values().stream().noneMatch(StepRow::isHeld) && !ChildLinks.open(d.view)) {
            RunEnd.abort(d, "budget_exceeded", null, new StepError(EXCEEDED, ErrorClass.BUDGET,
                    "the run has ended at its limit with what was done"));
        }
    }

    static Reply raise(Decision d, Command.RaiseBudget command) {
        if (d.run.state.terminal() && d.run.state != RunState.FAILED) {
            return RunActions.forbidden(d, "change the budget of");
        }
        BigDecimal hard = command.hardLimit() == null ? d.run.hardLimit : Amounts.of(command.hardLimit());
        BigDecimal soft = command.softLimit() == null ? d.run.softLimit : Amounts.of(command.softLimit());
        ParentRow parent = d.run.parent;
        if (hard != null && parent != null && parent.allotment() != null && hard.compareTo(parent.allotment()) > 0) {
            return new Reply.Rejected("PARENT_BUDGET_EXCEEDED", "the run that started it allows it "
                    + Amounts.credits(parent.allotment()), d.run.state.wire(), List.of());
        }
        if (command.hardLimit() != null && HardLimit.limit(d.run) == null && ChildBudgets.unbounded(d)) {
            return new Reply.Rejected("CHILD_BUDGETS_REQUIRED",
                    "runs that it started without a limit are at work, and a limit"
                            + " of its own would not bind them",
                    d.run.state.wire(), List.of("cancel"));
        }
        BigDecimal taken =
                Amounts.ceiling(d.run.chargedBefore.add(d.run.reserved)
                        .max(HardLimit.usedCredits(d.run).add(HardLimit.childrenTake(d)).add(HardLimit.out(d))));
        if (command.hardLimit() != null && hard != null && hard.compareTo(taken) < 0) {
            return new Reply.Rejected("BUDGET_TOO_LOW", "a hard limit of " + Amounts.text(hard) + " is too low: "
                    + Amounts.credits(taken) + " is the minimum: that amount is already charged ("
                    + Amounts.text(HardLimit.charged(d.run)) + "), reserved or in flight",
                    d.run.state.wire(), List.of());
        }
        Reply.Rejected refused = TaskBudgets.refusal(d, command.tasks());
        if (refused != null) {
            return refused;
        }
        BigDecimal before = HardLimit.limit(d.run);
        boolean same = same(hard, d.run.hardLimit) && same(soft, d.run.softLimit)
                && TaskBudgets.are(d, command.tasks());
        if (!same) {
            d.run.hardLimit = hard;
            d.run.softLimit = soft;
            TaskBudgets.raise(d, command.tasks());
            d.note(new RunPayload.BudgetChanged(hard, soft, command.tasks().isEmpty() ? null : command.tasks()));
        }
        boolean raised =
                before != null && HardLimit.limit(d.run) != null && before.compareTo(HardLimit.limit(d.run)) < 0;
        if (d.run.state != RunState.BUDGET_EXCEEDED) {
            if (raised) {
                d.note(new RunPayload.BudgetIncreased(before, HardLimit.limit(d.run), d.by()));
            }
            if (!same && d.carriedOut()) {
                SlotScheduling.startWaiting(d);
            }
            return new Reply.Done(!same);
        }
        Reply.Rejected refusal = d.run.gate == RunRow.Gate.FINISHING ? finishing(d) : provide(d);
        if (refusal == null) {
            return Resumption.resume(d, before);
        }
        if (raised) {
            d.note(new RunPayload.BudgetIncreased(before, HardLimit.limit(d.run), d.by()));
        }
        return same ? refusal : Reply.CHANGED;
    }

    /** Whether a run that its limit does not stop any more continues, or has ended, as the acceptance says. */
    static boolean answeredSo(Decision d, Command.DecideGate acceptance) {
        String model = acceptance.way().model();
        boolean finished = d.run.state == RunState.FAILED && EXCEEDED.equals(d.run.errorCode);
        if (finished || acceptance.way().finishing()) {
            return finished && acceptance.way().finishing();
        }
        return model != null ? model.equals(d.run.turnModel)
                : (acceptance.hardLimit() == null || same(HardLimit.limit(d.run), acceptance.hardLimit()))
                        && TaskBudgets.are(d, acceptance.tasks());
    }

    /** The refusal of an answer that contradicts the given one. */
    static Reply.Rejected contradiction(Decision d) {
        return new Reply.Rejected("INVALID_STATE_TRANSITION",
                "the question about its budget is answered otherwise: the run is " + d.run.state.wire(),
                d.run.state.wire(), RunActions.of(d));
    }

    private static boolean same(@Nullable BigDecimal one, @Nullable BigDecimal other) {
        return one == null || other == null ? one == other : one.compareTo(other) == 0;
    }

    /** Has a new plan made for a run that asks for one when most of its limit is used. */
    static void replan(Decision d) {
        if (d.replanAtBudget && d.run.policy().failures().replanAtBudget() && d.carriedOut()
                && d.run.gate == RunRow.Gate.NONE && Replanning.possible(d)
                && d.view.tasks.values().stream().anyMatch(task -> !task.terminal() && !task.system())) {
            Replanning.begin(d, Thresholds.REPLAN + " % of the hard limit are used");
        }
    }
}
