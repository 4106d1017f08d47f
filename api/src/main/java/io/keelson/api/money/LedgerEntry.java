package io.keelson.api.money;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One transfer of credits; it is never changed.
 *
 * @param id number of the row, over all workspaces
 * @param transactionType kind of transfer
 * @param amount credits; 0 only of a charge whose cost was below what can be charged
 * @param cost of a charge, exact to 12 decimal places: the charges of a run are the sum of their costs, rounded once;
 *     null for other transfers
 * @param debitAccount where it was taken
 * @param creditAccount where it went
 * @param runId run of the transfer; null for grants and adjustments
 * @param attemptNumber the run's attempt
 * @param stepId charged step; null for other transfers
 * @param idempotencyKey unique with the type
 * @param tool tool of the charged step
 * @param model model that was charged
 * @param agent agent of the charged step
 * @param tokens tokens of the charged step
 * @param usage tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up to
 *     all. Null for no tokens
 * @param priceVersion of the price list that the amount follows from; null when it was reported
 * @param purpose of a charge; null for other transfers
 * @param estimated whether tokens of the charge are an upper bound, as no answer reported them
 * @param reason reason that was given; null if absent
 * @param actorType kind of the actor
 * @param actorId id of the actor
 * @param createdAt time of the transfer
 */
public record LedgerEntry(long id,
        @OneOf({"grant", "reserve", "charge", "refund", "adjustment"}) String transactionType,
        @Range(min = 0) BigDecimal amount, @Nullable BigDecimal cost, @Ref("Account") String debitAccount,
        @Ref("Account") String creditAccount, @Nullable @Id String runId, @Nullable Integer attemptNumber,
        @Nullable @Id String stepId, String idempotencyKey, @Nullable String tool, @Nullable String model,
        @Nullable String agent, @Nullable Long tokens, @Nullable TokenUsage usage, @Nullable Integer priceVersion,
        @Nullable @OneOf({"work", "planning", "verification", "compaction", "gateway"}) String purpose,
        boolean estimated,
        @Nullable String reason, String actorType, @Nullable String actorId, Instant createdAt) {}
