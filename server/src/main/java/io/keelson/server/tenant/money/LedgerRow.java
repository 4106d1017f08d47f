package io.keelson.server.tenant.money;

import io.keelson.core.money.LedgerAccount;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One row of the ledger: an amount moved from one account of the workspace to another.
 *
 * @param id rises within a workspace
 * @param type {@code grant}, {@code reserve}, {@code charge}, {@code refund} or {@code adjustment}
 * @param amount credits, more than 0; of a charge 0 where its cost was below what can be charged
 * @param cost of a charge, exact: the charges of a run are the sum of their costs, rounded once; null for others
 * @param debit where it was taken
 * @param credit where it went
 * @param runId null when no run did it; the attempt is then null, too
 * @param key unique with the type: nothing is booked twice
 * @param tokens that were paid for; null where none were counted
 * @param usage the parts of the tokens, as JSON; null where there are none
 * @param priceVersion of the price list that the amount was calculated by; null when it was reported, or no charge
 * @param purpose of a charge: {@code work}, {@code planning}, {@code verification} or {@code compaction}; null for others
 * @param estimated whether the tokens are an upper bound, as no answer reported them
 * @param reason why a person did it
 */
public record LedgerRow(long id, String type, BigDecimal amount, @Nullable BigDecimal cost, LedgerAccount debit,
        LedgerAccount credit,
        @Nullable UUID runId,
        @Nullable Integer attempt, @Nullable UUID stepId, String key, @Nullable String tool, @Nullable String model,
        @Nullable String agent, @Nullable Long tokens, @Nullable String usage, @Nullable Integer priceVersion,
        @Nullable String purpose, boolean estimated, @Nullable String reason,
        String actorType, @Nullable String actorId, Instant createdAt) {

    /** Whether it moved the same amount between the same accounts for the same reason. */
    boolean says(LedgerAccount from, LedgerAccount to, BigDecimal moved, @Nullable String why) {
        return debit == from && credit == to && amount.compareTo(moved) == 0
                && (why == null ? reason == null : why.equals(reason));
    }
}
