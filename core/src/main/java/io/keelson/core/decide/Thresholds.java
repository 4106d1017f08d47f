package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import io.keelson.core.run.RunPayload;
import java.math.BigDecimal;

/**
 * Names the parts of a run's hard limit that its charges and its ended children's charges reach: each part once for
 * each limit.
 */
final class Thresholds {
    private static final int[] PERCENTS = {50, 80, 100};

    /** The part of the limit at which a run may ask for a new plan. */
    static final int REPLAN = 80;

    private Thresholds() {}

    /** The amount that thresholds compare: the run's charges and its ended children's charges. */
    static BigDecimal usedCredits(Decision d) {
        return d.view.children.isEmpty() ? HardLimit.charged(d.run)
                : d.view.children.values().stream().filter(ChildRow::over).map(ChildRow::charged)
                        .reduce(HardLimit.charged(d.run), BigDecimal::add);
    }

    /** @param before the used amount before a charge */
    static void reached(Decision d, BigDecimal before) {
        BigDecimal limit = HardLimit.limit(d.run);
        if (limit == null || limit.signum() == 0) {
            return;
        }
        BigDecimal used = usedCredits(d);
        for (int percent : PERCENTS) {
            BigDecimal at = Amounts.of(limit.multiply(BigDecimal.valueOf(percent)).movePointLeft(2));
            if (before.compareTo(at) < 0 && used.compareTo(at) >= 0) {
                d.note(new RunPayload.BudgetThreshold(percent, used, limit));
                d.replanAtBudget |= percent == REPLAN;
            }
        }
    }
}
