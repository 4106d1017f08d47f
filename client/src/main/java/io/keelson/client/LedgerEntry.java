package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One transfer of credits; it is never changed.
 *
 * @param id rises within a workspace
 * @param transactionType {@code grant}, {@code reserve}, {@code charge}, {@code refund} or {@code adjustment}
 * @param amount more than 0; 0 for a charge whose cost was below the smallest amount
 * @param cost of a charge, exact to twelve decimal places: the charges of a run are the sum of their costs, rounded
 *            once; null for others
 * @param debitAccount the {@linkplain Account#wire account} of the debit
 * @param creditAccount the account of the credit
 * @param runId null when no run did it
 * @param attemptNumber the run's attempt
 * @param stepId the charged step; null for other transfers
 * @param agent null for the run's default agent, or when it is no charge
 * @param tokens null when none were counted
 * @param usage null when there are no tokens
 * @param priceVersion of the price list that the amount follows from; null when it was reported
 * @param purpose of a charge: {@code work}, {@code planning}, {@code verification} or {@code compaction}; null for
 *            others
 * @param estimated whether the tokens are an upper bound, as no answer reported them
 * @param reason why a person did it
 */
public record LedgerEntry(long id, String transactionType, BigDecimal amount, @Nullable BigDecimal cost,
        String debitAccount, String creditAccount, @Nullable String runId, @Nullable Integer attemptNumber,
        @Nullable String stepId,
        String idempotencyKey, @Nullable String tool, @Nullable String model, @Nullable String agent,
        @Nullable Long tokens, @Nullable TokenUsage usage, @Nullable Integer priceVersion,
        @Nullable String purpose, boolean estimated, @Nullable String reason,
        String actorType,
        @Nullable String actorId, @Nullable Instant createdAt) {}
