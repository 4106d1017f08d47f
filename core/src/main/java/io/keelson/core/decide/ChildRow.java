package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import java.math.BigDecimal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A child run, as its parent sees it.
 *
 * @param task id in the plan of the task whose step started it
 * @param allotment credits that it may cost at most; null for no limit
 * @param charged credits that it was charged, its own children included; 0 until it has ended; its children's budgets
 *                count until they have ended
 * @param tokens that it and its own children have used; 0 until all have ended
 * @param ended whether all have
 */
public record ChildRow(UUID stepId, UUID runId, String task, @Nullable BigDecimal allotment, BigDecimal charged,
        long tokens, boolean ended) {

    ChildRow ended(BigDecimal cost, long used) {
        return new ChildRow(stepId, runId, task, allotment, Amounts.of(cost), used, true);
    }

    /** Bounds the total cost of an ended child whose own children are still open. */
    ChildRow atMost(BigDecimal cost) {
        BigDecimal most = Amounts.of(cost);
        return charged.signum() > 0 && charged.compareTo(most) <= 0 ? this
                : new ChildRow(stepId, runId, task, allotment, most, tokens, ended);
    }

    ChildRow allotted(BigDecimal amount) {
        return new ChildRow(stepId, runId, task, amount, charged, tokens, ended);
    }

    /** Whether the child itself has ended, so that its share of its parent's limit cannot grow. */
    boolean over() {
        return ended || charged.signum() > 0;
    }

    /** Its share of its parent's limit. */
    BigDecimal shareOfLimit() {
        return over() || allotment == null ? charged : allotment;
    }
}
