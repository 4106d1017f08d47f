package io.keelson.core.run;

import io.keelson.core.money.Amounts;
import java.math.BigDecimal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run that another one's step has started, as that one sees it.
 *
 * @param allotment credits that it may cost at most; null for no limit
 * @param charged credits that it was charged, its own children included; 0 until it has ended
 * @param tokens likewise
 */
public record ChildRow(UUID stepId, UUID runId, @Nullable BigDecimal allotment, BigDecimal charged, long tokens,
        boolean ended) {

    ChildRow ended(BigDecimal cost, long used) {
        return new ChildRow(stepId, runId, allotment, Amounts.of(cost), used, true);
    }

    ChildRow allotted(BigDecimal amount) {
        return new ChildRow(stepId, runId, amount, charged, tokens, ended);
    }

    /** What it takes of its parent's limit. */
    BigDecimal taken() {
        return ended || allotment == null ? charged : allotment;
    }
}
