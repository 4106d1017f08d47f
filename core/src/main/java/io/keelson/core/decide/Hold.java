package io.keelson.core.decide;

import io.keelson.core.money.Amounts;
import java.math.BigDecimal;

/**
 * Credits of a run's reservation that are held for the worst case of a step under a lease.
 *
 * @param amount ≥ 0, in credits, exact
 * @param maxOutput tokens that it pays beside the step's input
 * @param requested whether a request to a model may have been sent under it
 */
public record Hold(BigDecimal amount, long maxOutput, boolean requested) {

    /** The rest of this hold after a charge. */
    Hold without(BigDecimal charged) {
        return new Hold(Amounts.exact(amount.subtract(charged).max(Amounts.ZERO)), maxOutput, requested);
    }

    /** This hold, marked so that a request may have been sent under it. */
    Hold requesting() {
        return new Hold(amount, maxOutput, true);
    }
}
