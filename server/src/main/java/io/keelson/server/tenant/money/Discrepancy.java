package io.keelson.server.tenant.money;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A difference between the ledger and other rows.
 *
 * @param runId null when it is about a workspace's balance
 * @param attempt of the run; null with it
 * @param stepId null when it is not about a step
 * @param figure the differing figure: {@code reserved}, {@code charged}, {@code refunded} of an attempt,
 *            {@code charged} or the number of {@code charges} of a step, an account of a balance
 * @param expected the ledger's sum; for a step, its results' sum
 * @param actual the stored value; null if absent
 */
public record Discrepancy(Kind kind, UUID workspaceId, @Nullable UUID runId, @Nullable Integer attempt,
        @Nullable UUID stepId, String figure, BigDecimal expected, @Nullable BigDecimal actual) {

    /** How the books can be wrong. */
    public enum Kind {
        /** An attempt's figure is not what its transfers come to. */
        ATTEMPT_DIFFERS,
        /** There are transfers of an attempt that the workspace does not have. */
        ATTEMPT_MISSING,
        /** An attempt was settled, but charges and refunds do not add up to the reservation. */
        ATTEMPT_NOT_EVEN,
        /** The charges of a run are not the sum of their exact costs, rounded once. */
        RUN_DIFFERS,
        /** The charges of a step are not what its tries cost. */
        STEP_DIFFERS,
        /** An account of a balance differs from the ledger's sum. */
        BALANCE_DIFFERS,
        /** The ledger has transfers of a workspace without a balance. */
        BALANCE_MISSING;

        /** As documents have it. */
        public String wire() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** In one sentence. */
    public String message() {
        String where = runId == null ? "workspace " + workspaceId
                : "workspace " + workspaceId + ", run " + runId + ", attempt " + attempt
                        + (stepId == null ? "" : ", step " + stepId);
        String wanted = expected.stripTrailingZeros().toPlainString();
        return where + ": " + switch (kind) {
            case ATTEMPT_DIFFERS, BALANCE_DIFFERS ->
                figure + " should be " + wanted + " by the ledger and is " + shown();
            case RUN_DIFFERS ->
                figure + " should be " + wanted + " by the exact costs of the run's charges and is " + shown();
            case ATTEMPT_MISSING -> "the ledger has " + wanted + " " + figure + ", and there is no such attempt";
            case ATTEMPT_NOT_EVEN -> "settled, and charged and refunded are " + shown() + " together where " + wanted
                    + " was reserved";
            case STEP_DIFFERS -> figure + " should be " + wanted + " by the step's results and is " + shown()
                    + " in the ledger";
            case BALANCE_MISSING -> "the ledger has " + wanted + " " + figure + ", and there is no balance";
        };
    }

    private String shown() {
        return actual == null ? "not there" : actual.stripTrailingZeros().toPlainString();
    }
}
