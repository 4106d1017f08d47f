package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices.Cost;
import io.keelson.core.money.Tokens;
import io.keelson.core.run.Command;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepPayload;
import java.math.BigDecimal;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Charges the use that a holder reports by heartbeats. Reports are cumulative for their lease: each one, and the report at the
 * end, is charged as far as it exceeds those before.
 */
final class Metering {
    private Metering() {}

    static Reply chargeUse(Decision d, StepRow step, Command.Meter command) {
        Cost cost = cost(d, step, command.used());
        Use use = beyond(step, command.used(), cost);
        if (!use.none()) {
            step.metered = use.all(step.leaseEpoch);
            d.changes.touch(step);
            Holds.use(d, step, use.cost().amount());
            PayloadPart.Spent spent = Objects.requireNonNull(Credits.charge(d, step, use.result(), use.cost(),
                    step.id() + "/" + step.attempt + "/used/" + step.leaseEpoch + "/" + d.run.seq));
            LimitStop.afterCharge(d, spent);
            d.note(step.task(), step, new StepPayload.Charged(step.leaseEpoch, spent));
        }
        return new Reply.Metered(exhausted(d, step));
    }

    /**
     * Use since the last report of the same lease.
     *
     * @param result with the tokens of that time
     * @param cost of that time
     * @param before charged by the reports before
     */
    record Use(Result result, Cost cost, Metered before) {

        private boolean none() {
            return result.tokens().none() && cost.amount().signum() == 0;
        }

        /** The use of the whole lease. */
        Metered all(int epoch) {
            return new Metered(epoch, before.tokens().plus(result.tokens()),
                    Amounts.exact(before.cost().add(cost.amount())), before.requests());
        }
    }

    /** How far a cumulative report exceeds the heartbeats of its lease. */
    static Use beyond(StepRow step, Result result, Cost cost) {
        Metered before = ofLease(step);
        BigDecimal more = Amounts.exact(cost.amount().subtract(before.reportedCost()).max(Amounts.ZERO));
        return new Use(result.using(result.tokens().beyond(before.reportedTokens())), new Cost(more, cost.version()),
                before);
    }

    /** The use of the step's lease that is charged already. */
    static Metered ofLease(StepRow step) {
        return step.metered != null && step.metered.epoch() == step.leaseEpoch ? step.metered
                : new Metered(step.leaseEpoch, Tokens.NONE, Amounts.ZERO);
    }

    /** The cost by the report or the model's price. The price of the tool is one of a whole execution. */
    private static Cost cost(Decision d, StepRow step, Result used) {
        return used.cost() == null && !Credits.pricedByModel(d, step, used)
                ? new Cost(Amounts.ZERO, null)
                : Credits.cost(d, step, used);
    }

    /** True when nothing more of the step can be collected. */
    private static boolean exhausted(Decision d, StepRow step) {
        if (step.hold != null && step.hold.amount().signum() > 0) {
            return false;
        }
        return usedUp(HardLimit.run(d)) || usedUp(HardLimit.task(d, step.task().planKey()))
                || Credits.coverable(d, Amounts.LEAST).signum() <= 0;
    }

    private static boolean usedUp(HardLimit.@Nullable Scope scope) {
        return scope != null && scope.charged().signum() > 0 && scope.charged().compareTo(scope.limit()) >= 0;
    }
}
