package io.keelson.server.tenant.money;

import io.keelson.core.money.LedgerAccount;
import java.math.BigDecimal;

/**
 * A workspace's accounts, in credits.
 *
 * @param available what runs may still reserve
 * @param reserved reservations of open attempts, including their charges so far
 * @param spent what attempts that have been settled were charged, and corrections
 */
public record WorkspaceBalance(BigDecimal available, BigDecimal reserved, BigDecimal spent) {

    static final WorkspaceBalance NONE = new WorkspaceBalance(BigDecimal.ZERO, BigDecimal.ZERO, BigDecimal.ZERO);

    /** The balance after an amount, which may be negative, is added to the account; funding has no balance. */
    WorkspaceBalance plus(LedgerAccount account, BigDecimal amount) {
        return switch (account) {
            case FUNDING -> this;
            case AVAILABLE -> new WorkspaceBalance(available.add(amount), reserved, spent);
            case RESERVED -> new WorkspaceBalance(available, reserved.add(amount), spent);
            case SPENT -> new WorkspaceBalance(available, reserved, spent.add(amount));
        };
    }

    /** The balance with another slot, to which funding gave {@code funded}. */
    WorkspaceBalance plus(BigDecimal funded, BigDecimal ofAvailable, BigDecimal ofSpent) {
        return new WorkspaceBalance(available.add(ofAvailable),
                reserved.add(funded).subtract(ofAvailable).subtract(ofSpent), spent.add(ofSpent));
    }

    /** The sum of funding over all accounts. */
    BigDecimal funded() {
        return available.add(reserved).add(spent);
    }

    /** Whether every account is within its bounds. */
    boolean possible() {
        return possible(available) && possible(reserved) && possible(spent);
    }

    private static boolean possible(BigDecimal held) {
        return held.signum() >= 0 && held.compareTo(CreditAmounts.MAX_BALANCE) <= 0;
    }
}
