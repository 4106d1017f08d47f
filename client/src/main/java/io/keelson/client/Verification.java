package io.keelson.client;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * The result of a ledger verification.
 *
 * @param ok whether everything agrees
 * @param entries of the ledger that were added up
 * @param attempts of runs that were compared
 * @param workspaces whose balances were compared
 * @param discrepancy the first place that does not agree; null when everything does
 */
public record Verification(boolean ok, long entries, long attempts, long workspaces,
        @Nullable Discrepancy discrepancy) {

    /**
     * A discrepancy of the books.
     *
     * @param kind such as {@code attempt_differs}
     * @param runId null when it is about a balance
     * @param stepId null when it is not about a step
     * @param figure {@code reserved}, {@code charged} or {@code refunded}; of a step {@code charged} or
     *            {@code charges}, of a balance the account
     * @param expected the amount computed from the ledger; for a step, from its results
     * @param actual the stored amount; null if absent
     * @param message the discrepancy in one sentence
     */
    public record Discrepancy(String kind, String workspaceId, @Nullable String runId, @Nullable Integer attemptNumber,
            @Nullable String stepId, String figure, BigDecimal expected, @Nullable BigDecimal actual, String message) {}
}
