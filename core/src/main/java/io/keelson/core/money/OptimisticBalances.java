package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.UUID;

/**
 * Balances of decisions without a lock. The commit's change of the balance proves each withdrawal, or fails. A decision
 * that withdraws nothing would have no proof, so it needs the lock first.
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

    /** True when an answer without proof was given: the decisions must not be committed. */
    public boolean needsLock() {
        return needsLock;
    }
}
