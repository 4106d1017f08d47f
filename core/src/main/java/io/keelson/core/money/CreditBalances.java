package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.UUID;

/** What workspaces have to spend, as far as who decides knows it. */
public interface CreditBalances {

    /** Says yes to everything. */
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

    /** Takes it out if it is there. Whoever answers without knowing sees to it that a wrong yes is not committed. */
    boolean take(UUID workspace, BigDecimal amount);

    /** Puts back what was not needed. */
    void give(UUID workspace, BigDecimal amount);

    /** How much of it is there; nothing is taken out. */
    default BigDecimal rest(UUID workspace, BigDecimal most) {
        return most;
    }

    /** Whether it is there, for decisions that take nothing out. */
    boolean covers(UUID workspace, BigDecimal amount);
}
