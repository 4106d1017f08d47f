package io.keelson.api.money;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * The result of a ledger verification.
 *
 * @param ok whether everything agrees
 * @param entries number of ledger entries that were added up
 * @param attempts number of attempts of runs that were compared
 * @param workspaces number of workspaces whose balances were compared
 * @param discrepancy the first place that does not agree; null if everything does
 */
public record Verification(boolean ok, long entries, long attempts, long workspaces,
        @Nullable Discrepancy discrepancy) {

    /**
     * A discrepancy of the books.
     *
     * @param kind kind of the discrepancy
     * @param workspaceId id of the workspace
     * @param runId run of the attempt; null if it is about a balance
     * @param attemptNumber the run's attempt
     * @param stepId null if it is not about a step
     * @param figure reserved, charged or refunded; of a step charged or charges; of a balance the account
     * @param expected the amount computed from the ledger; for a step, from its results
     * @param actual the stored amount; null if absent
     * @param message the discrepancy in one sentence
     */
    public record Discrepancy(@OneOf({"attempt_differs", "attempt_missing", "attempt_not_even", "run_differs",
            "step_differs", "balance_differs", "balance_missing"}) String kind, @Id String workspaceId,
            @Nullable @Id String runId, @Nullable Integer attemptNumber, @Nullable @Id String stepId, String figure,
            BigDecimal expected, @Nullable BigDecimal actual, String message) {}
}
