package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.UUID;

/**
 * For who decides without having looked into the purse. What is taken out is proven by the change of the balance, which
 * is refused where it is not there; where nothing is taken out nothing would prove it, and somebody must look first.
 */
public final class OptimisticBalances implements CreditBalances {
    private boolean needsLock;

    @Override
    public boolean take(UUID workspace, BigDecimal amount) {
        return true;
    }

    @Override
    public void give(UUID workspace, BigDecimal amount) {}

    @Override
    public boolean covers(UUID workspace, BigDecimal amount) {
        needsLock = true;
        return true;
    }

    /** True when an answer was given that nothing proves: what was decided must not be committed. */
    public boolean needsLock() {
        return needsLock;
    }
}
