package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.UUID;

/** The available credits of workspaces, as far as the deciding code knows them. */
public interface CreditBalances {

    /** Accepts every withdrawal. */
    CreditBalances BOTTOMLESS = new CreditBalances() {
        @Override
        public boolean take(UUID workspace, BigDecimal amount) {
            return true;
        }

        @Override
        public void give(UUID workspace, BigDecimal amount) {}

        @Override
        public boolean covers(UUID workspace, BigDecimal amount) {
            return true;
        }
    };

    /**
     * Withdraws the amount if available. An implementation that answers without knowing must keep a wrong yes from
     * being committed.
     */
    boolean take(UUID workspace, BigDecimal amount);

    /** Returns an unused amount. */
    void give(UUID workspace, BigDecimal amount);

    /** The available part of the amount; withdraws nothing. */
    default BigDecimal rest(UUID workspace, BigDecimal most) {
        return most;
    }

    /**
     * Credits that only the workspace's limit of the month keeps from being available. Zero for an implementation that answers
     * without knowing.
     */
    default BigDecimal withheld(UUID workspace) {
        return Amounts.ZERO;
    }

    /** Whether the amount is available, for decisions that withdraw nothing. */
    boolean covers(UUID workspace, BigDecimal amount);
}
