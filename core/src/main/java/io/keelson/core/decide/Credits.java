package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices.Cost;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Purpose;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Kind;
import io.keelson.core.money.Transfer.Use;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.RunPayload;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The credits of a run. An attempt's start reserves them, steps' reports charge them, an
 * insufficient reservation is extended, and the end releases the rest. Costs are added exactly, and their sum over all attempts
 * is rounded once, half up: a use is charged what that rounded sum grows by. Charges never exceed the reservation, and the
 * reservation never exceeds the hard limit.
 */
final class Credits {
    private static final String INSUFFICIENT = "INSUFFICIENT_CREDITS";
    private static final String MONTH = "MONTHLY_LIMIT_REACHED";

    private Credits() {}

    /**
     * Reserves the estimated cost of an attempt.
     *
     * @param attempt that is about to begin
     * @return null when it may begin; otherwise the refusal, and nothing has changed
     */
    static Reply.@Nullable Rejected reserve(Decision d, int attempt) {
        BigDecimal room = HardLimit.room(d.run);
        if (room != null && room.signum() <= 0 && d.run.chargedBefore.signum() > 0) {
            return usedUp(d.run, ": raise it with `keelson budget " + d.run.id() + " --hard-limit CREDITS`");
        }
        BigDecimal wanted = usualReservation(d);
        if (wanted.signum() > 0 && !d.funds.balances().take(d.run.workspaceId(), wanted)) {
            wanted = estimate(d);
            if (!monthLeaves(d, wanted) || wanted.signum() > 0 && !take(d, wanted)) {
                return insufficient(d, usualReservation(d));
            }
        }
        setAside(d, attempt, wanted, "reserve");
        return null;
    }

    /**
     * Whether the workspace's monthly limit leaves at least the estimated cost of an attempt, but less than the usual
     * reservation. Then the attempt reserves its estimate, and extends the reservation with each step.
     */
    private static boolean monthLeaves(Decision d, BigDecimal estimate) {
        BigDecimal wanted = usualReservation(d);
        BigDecimal rest = d.funds.balances().rest(d.run.workspaceId(), wanted);
        return withheld(d, wanted) && rest.signum() > 0 && rest.compareTo(estimate) >= 0;
    }

    /** Whether only the workspace's limit of the month keeps the amount from being available. */
    static boolean withheld(Decision d, BigDecimal amount) {
        BigDecimal rest = d.funds.balances().rest(d.run.workspaceId(), amount);
        return rest.compareTo(amount) < 0
                && rest.add(d.funds.balances().withheld(d.run.workspaceId())).compareTo(amount) >= 0;
    }

    /**
     * Checks whether a first attempt is affordable; reserves nothing.
     *
     * @return null when it is
     */
    static Reply.@Nullable Rejected missing(Decision d) {
        BigDecimal wanted = usualReservation(d);
        return wanted.signum() == 0 || d.funds.balances().covers(d.run.workspaceId(), wanted)
                || monthLeaves(d, estimate(d)) ? null : insufficient(d, wanted);
    }

    private static void setAside(Decision d, int attempt, BigDecimal amount, String what) {
        if (amount.signum() > 0) {
            d.run.reserved = d.run.reserved.add(amount);
            d.changes.reserve(d.run.workspaceId(), amount);
            book(d, Kind.RESERVE, amount, attempt, d.run.id() + "/" + attempt + "/" + what);
        }
    }

    /** The estimated cost of an attempt, at least 1, within the hard limit. */
    private static BigDecimal usualReservation(Decision d) {
        return HardLimit.within(d.run, d.run.policy().budget().estimate(d.funds.prices()).max(Amounts.ONE));
    }

    /**
     * The expected cost of an attempt, without the minimum of a reservation; covers the uncharged remainder of earlier
     * attempts.
     */
    private static BigDecimal estimate(Decision d) {
        return HardLimit.within(d.run,
                d.run.policy().budget().estimate(d.funds.prices()).max(Amounts.ceiling(d.run.remainder)));
    }

    /** The cost in a report, or by the prices in force. */
    static Cost cost(Decision d, StepRow step, Result result) {
        return d.funds.prices().cost(step.spec().tool(), priced(d, step, result), result.tokens(), result.cost());
    }

    /** True when the price of a model gives the cost of a report's tokens. */
    static boolean pricedByModel(Decision d, StepRow step, Result result) {
        String model = priced(d, step, result);
        return !result.tokens().none() && model != null && d.funds.prices().models().containsKey(model);
    }

    /** True when a report has tokens whose cost neither it nor a price gives. */
    static boolean unpriced(Decision d, StepRow step, Result result) {
        return d.funds.prices().unpriced(step.spec().tool(), priced(d, step, result), result.tokens(), result.cost());
    }

    /**
     * The model whose prices apply to a report: the reported model, or the task's model if the reported one has no
     * price. Null if absent.
     */
    private static @Nullable String priced(Decision d, StepRow step, Result result) {
        Map<String, ModelPrice> models = d.funds.prices().models();
        String answered = result.model();
        AgentTerms terms = Rungs.terms(step.task());
        String asked = terms == null || step.spec().kind() == StepKind.CALL || step.spec().kind() == StepKind.VERIFY
                ? null
                : terms.model();
        boolean byTokens = result.cost() == null && !result.tokens().none();
        return !byTokens || asked == null || !models.containsKey(asked)
                || answered != null && models.containsKey(answered) ? answered : asked;
    }

    /**
     * Charges a use of a step, once, as far as it can be collected, and counts it for step, task and run.
     *
     * @param key of the charge in the ledger; null for the key of the step's attempt
     * @return the cost for its event; null when nothing was used
     */
    static PayloadPart.@Nullable Spent charge(Decision d, StepRow step, Result result, Cost cost,
            @Nullable String key) {
        return charge(d, step, result, cost, key, Purposes.of(step, result));
    }

    /** Charges a step's use for a purpose. */
    static PayloadPart.@Nullable Spent charge(Decision d, StepRow step, Result result, Cost cost,
            @Nullable String key, Purpose purpose) {
        BigDecimal amount = cost.amount();
        step.tokens += result.tokens().total();
        step.cost = Amounts.exact(step.cost.add(amount));
        if (result.tokens().none() && amount.signum() == 0) {
            return null;
        }
        step.task().tokens += result.tokens().total();
        step.task().cost = Amounts.exact(step.task().cost.add(amount));
        d.run.tokens = d.run.tokens.plus(result.tokens());
        d.run.cost = Amounts.exact(d.run.cost.add(amount));
        BigDecimal charged = null;
        BigDecimal uncollected = null;
        if (amount.signum() > 0) {
            require(d, amount);
            BigDecimal collected = amount.min(free(d)).min(HardLimit.besideChildren(d, amount));
            BigDecimal before = Thresholds.usedCredits(d);
            charged = collect(d, step, result, cost, collected, key == null ? step.id() + "/" + step.attempt : key,
                    purpose);
            warn(d);
            Thresholds.reached(d, before);
            if (collected.compareTo(amount) < 0) {
                uncollected = Amounts.exact(amount.subtract(collected));
                d.run.uncollected = Amounts.exact(d.run.uncollected.add(uncollected));
            }
        }
        String answered = Objects.equals(priced(d, step, result), result.model()) ? null : result.model();
        return new PayloadPart.Spent(result.tokens(), amount, answered, charged, uncollected, result.estimated());
    }

    /** Extends the reservation if it does not cover an amount beside all holds, as far as credits are available. */
    private static void require(Decision d, BigDecimal amount) {
        BigDecimal missing = amount.subtract(free(d));
        if (missing.signum() > 0) {
            extend(d, Amounts.ceiling(missing));
            if (amount.compareTo(free(d)) > 0) {
                scrape(d, Amounts.ceiling(missing));
            }
        }
    }

    /**
     * Whether the reservation and the balance together pay an amount. For a decision that withdraws nothing: no later
     * statement would prove a wrong yes.
     */
    static boolean pays(Decision d, BigDecimal amount) {
        BigDecimal missing = Amounts.ceiling(amount.subtract(free(d)));
        return missing.signum() <= 0
                || d.funds.balances().covers(d.run.workspaceId(), HardLimit.within(d.run, missing));
    }

    /**
     * The part of an amount that the reservation and the available credits cover in addition to all holds.
     * {@link #cover} checks this optimistic answer.
     */
    static BigDecimal coverable(Decision d, BigDecimal amount) {
        BigDecimal free = free(d);
        BigDecimal missing = Amounts.ceiling(amount.subtract(free));
        return missing.signum() <= 0 ? amount
                : amount.min(free.add(
                        d.funds.balances().rest(d.run.workspaceId(), HardLimit.within(d.run, missing))));
    }

    /**
     * Extends the reservation for an amount as far as credits are available.
     *
     * @return the covered part of the amount
     */
    static BigDecimal cover(Decision d, BigDecimal amount) {
        require(d, amount);
        return amount.min(free(d));
    }

    /** Reserved credits that no cost has used, before its rounding, and that are not held. */
    private static BigDecimal free(Decision d) {
        return d.run.reserved.subtract(usedCredits(d.run)).subtract(d.view.held);
    }

    /** The part of the reservation that costs have used, before the rounding of charges. */
    static BigDecimal usedCredits(RunRow run) {
        return run.charged.add(run.remainder);
    }

    private static BigDecimal uncharged(RunRow run) {
        return run.reserved.subtract(run.charged);
    }

    /**
     * Adds an exact cost to the collected costs.
     *
     * @return the charged amount
     */
    private static BigDecimal collect(Decision d, StepRow step, Result result, Cost cost, BigDecimal exact,
            String key, Purpose purpose) {
        if (exact.signum() == 0) {
            return Amounts.ZERO;
        }
        BigDecimal open = d.run.remainder.add(exact);
        BigDecimal amount = Amounts.of(open);
        d.run.remainder = Amounts.exact(open.subtract(amount));
        d.run.charged = d.run.charged.add(amount);
        TaskBudgets.charge(d, step.task(), exact);
        d.changes.add(new Transfer(d.run.workspaceId(), Kind.CHARGE, amount, d.run.id(), d.run.attempt, step.id(), key,
                new Use(Amounts.exact(exact), step.spec().tool(), priced(d, step, result), step.task().agent().name(),
                        result.tokens(), cost.version(), purpose, result.estimated()),
                d.actor.type().wire(), d.actor.id()));
        return amount;
    }

    /** Extends the reservation by its full size if available, else by the amount {@code least}, else not at all. */
    private static void extend(Decision d, BigDecimal least) {
        BigDecimal much = HardLimit.within(d.run, usualReservation(d).max(least));
        BigDecimal little = HardLimit.within(d.run, least);
        BigDecimal got = take(d, much) ? much : take(d, little) ? little : Amounts.ZERO;
        if (got.signum() > 0) {
            d.note(new RunPayload.CreditsExtended(got, d.run.reserved.add(got)));
            setAside(d, d.run.attempt, got, "extend/" + d.run.seq);
        }
    }

    /** Reserves as much of the missing amount as is available. */
    private static void scrape(Decision d, BigDecimal missing) {
        extend(d, d.funds.balances().rest(d.run.workspaceId(), HardLimit.within(d.run, missing)));
    }

    /** A first plan exists: reserves the rest of its estimated cost if the workspace has the credits. */
    static void provideFor(Decision d, BigDecimal estimate) {
        BigDecimal more = HardLimit.within(d.run, Amounts.ceiling(estimate.subtract(free(d))));
        if (take(d, more)) {
            d.note(new RunPayload.CreditsExtended(more, d.run.reserved.add(more)));
            setAside(d, d.run.attempt, more, "extend/" + d.run.seq);
        }
    }

    private static boolean take(Decision d, BigDecimal amount) {
        return amount.signum() > 0 && d.funds.balances().take(d.run.workspaceId(), amount);
    }

    /** Warns people once of a run's cost. */
    private static void warn(Decision d) {
        BigDecimal soft = d.run.softLimit != null ? d.run.softLimit : d.run.policy().budget().softLimit();
        BigDecimal hard = HardLimit.limit(d.run);
        BigDecimal at = d.run.policy().budget().warning(hard, soft);
        if (!d.run.budgetWarned && at != null && HardLimit.charged(d.run).compareTo(at) >= 0) {
            d.run.budgetWarned = true;
            BigDecimal charged = HardLimit.charged(d.run);
            BigDecimal of = hard == null ? at : hard;
            double percent = of.signum() == 0 ? 100
                    : charged.movePointRight(2).divide(of, 1, RoundingMode.HALF_EVEN).doubleValue();
            d.note(new RunPayload.BudgetWarning(charged, at, percent, charged, at, hard));
        }
    }

    /** Whether the next try of a failed step is affordable, by its known cost. */
    static boolean affordable(Decision d, BigDecimal known) {
        BigDecimal needed = known.max(d.run.policy().budget().minCredits());
        BigDecimal more = needed.subtract(free(d));
        return more.signum() <= 0 || d.funds.balances().covers(d.run.workspaceId(), more);
    }

    /** True when the reservation is used up and did not cover a step's cost. */
    static boolean overdrawn(Decision d) {
        return d.run.uncollected.signum() > 0 && free(d).signum() == 0;
    }

    /** A person resumes a run that was overdrawn during its pause; credits may be available by now. */
    static void provideAgain(Decision d) {
        if (overdrawn(d)) {
            provide(d);
        }
    }

    static Reply.@Nullable Rejected provide(Decision d) {
        BigDecimal limit = HardLimit.limit(d.run);
        if (limit != null && HardLimit.usedCredits(d.run).add(HardLimit.childrenTake(d)).compareTo(limit) >= 0) {
            return usedUp(d.run, "");
        }
        Reply.Rejected task = TaskBudgets.usedUp(d);
        if (task != null) {
            return task;
        }
        BigDecimal wanted = HardLimit.within(d.run, Amounts.ONE);
        if (free(d).signum() == 0) {
            extend(d, wanted);
        }
        if (free(d).signum() == 0 && withheld(d, wanted)) {
            scrape(d, wanted);
        }
        return free(d).signum() > 0 ? null : insufficient(d, wanted);
    }

    /** Ends the attempt's account: releases the unused reservation and resets the account. */
    static ChangeSet.Account settle(Decision d) {
        RunRow run = d.run;
        BigDecimal refund = uncharged(run);
        ChangeSet.Account account = new ChangeSet.Account(run.reserved, run.charged, refund, run.uncollected, d.now);
        if (refund.signum() > 0) {
            book(d, Kind.REFUND, refund, run.attempt, run.id() + "/" + run.attempt + "/settle");
            d.funds.balances().give(run.workspaceId(), refund);
        }
        d.changes.settle(run.workspaceId(), run.reserved, run.charged);
        run.chargedBefore = run.chargedBefore.add(run.charged);
        run.refunded = run.refunded.add(refund);
        run.reserved = Amounts.ZERO;
        run.charged = Amounts.ZERO;
        return account;
    }

    /** The credits part of a terminal event. */
    static PayloadPart.Settled settled(ChangeSet.Account account) {
        return new PayloadPart.Settled(account.charged(), account.refunded(),
                account.uncollected().signum() > 0 ? account.uncollected() : null);
    }

    private static void book(Decision d, Kind kind, BigDecimal amount, int attempt, String key) {
        d.changes.add(new Transfer(d.run.workspaceId(), kind, amount, d.run.id(), attempt, null, key, null,
                d.actor.type().wire(), d.actor.id()));
    }

    private static Reply.Rejected insufficient(Decision d, BigDecimal wanted) {
        return withheld(d, wanted)
                ? new Reply.Rejected(MONTH, "the workspace's limit of the month (usd_per_month) leaves "
                        + Amounts.text(d.funds.balances().rest(d.run.workspaceId(), wanted)) + " of the "
                        + Amounts.credits(wanted) + " that the run needs", d.run.state.wire(), List.of())
                : new Reply.Rejected(INSUFFICIENT, "the workspace has fewer than the " + Amounts.credits(wanted)
                        + " that the run needs", d.run.state.wire(), List.of());
    }

    private static Reply.Rejected usedUp(RunRow run, String remedy) {
        return new Reply.Rejected("BUDGET_EXCEEDED", "the run has used " + Amounts.credits(HardLimit.charged(run))
                + ", and its hard limit is " + Amounts.text(Objects.requireNonNull(HardLimit.limit(run))) + remedy,
                run.state.wire(), List.of("budget", "cancel"));
    }
}
