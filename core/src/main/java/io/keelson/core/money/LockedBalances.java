package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** Balances that were read under lock, less the withdrawals of the current batch. */
public final class LockedBalances implements CreditBalances {
    private final Map<UUID, BigDecimal> left;
    private final Map<UUID, BigDecimal> withheld;

    /**
     * @param available by workspace, 0 if absent; below zero if a limit was lowered below its use
     * @param withheld by workspace, the credits beyond its monthly limit; 0 if absent
     */
    public LockedBalances(Map<UUID, BigDecimal> available, Map<UUID, BigDecimal> withheld) {
        this.left = new HashMap<>(available);
        this.withheld = Map.copyOf(withheld);
    }

    /** Balances without monthly limits. */
    public LockedBalances(Map<UUID, BigDecimal> available) {
        this(available, Map.of());
    }

    @Override
    public boolean take(UUID workspace, BigDecimal amount) {
        boolean there = covers(workspace, amount);
        if (there) {
            left.merge(workspace, amount.negate(), BigDecimal::add);
        }
        return there;
    }

    @Override
    public void give(UUID workspace, BigDecimal amount) {
        left.merge(workspace, amount, BigDecimal::add);
    }

    @Override
    public BigDecimal rest(UUID workspace, BigDecimal most) {
        return left.getOrDefault(workspace, Amounts.ZERO).min(most).max(Amounts.ZERO);
    }

    @Override
    public BigDecimal withheld(UUID workspace) {
        return withheld.getOrDefault(workspace, Amounts.ZERO);
    }

    @Override
    public boolean covers(UUID workspace, BigDecimal amount) {
        return left.getOrDefault(workspace, Amounts.ZERO).compareTo(amount) >= 0;
    }
}
