package io.keelson.core.money;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A transfer between two accounts of a run's workspace: a row of the ledger, never changed.
 *
 * @param amount &gt; 0; of a charge 0 where its cost was below what can be charged
 * @param attempt the run's, from 1
 * @param stepId the charged step; null when it is not a charge
 * @param key unique with the kind within the workspace: no transfer is booked twice
 * @param use the reason of the charge; null when it is not a charge
 * @param actorId null for the system itself
 */
public record Transfer(UUID workspaceId, Kind kind, BigDecimal amount, UUID runId, int attempt, @Nullable UUID stepId,
        String key, @Nullable Use use, String actorType, @Nullable String actorId) {

    /** Kinds of transfers of a run. */
    public enum Kind {
        /** At the beginning of an attempt, and when a reservation is extended. */
        RESERVE(LedgerAccount.AVAILABLE, LedgerAccount.RESERVED),
        /** A step's cost, by which the rounded sum of its run's costs has grown. */
        CHARGE(LedgerAccount.RESERVED, LedgerAccount.SPENT),
        /** An ended attempt's unused reservation. */
        REFUND(LedgerAccount.RESERVED, LedgerAccount.AVAILABLE);

        private final LedgerAccount from;
        private final LedgerAccount to;
        private final String wire = name().toLowerCase(Locale.ROOT);

        Kind(LedgerAccount from, LedgerAccount to) {
            this.from = from;
            this.to = to;
        }

        public LedgerAccount from() {
            return from;
        }

        public LedgerAccount to() {
            return to;
        }

        public String wire() {
            return wire;
        }
    }

    /**
     * The reason of a charge.
     *
     * @param cost the exact cost, {@linkplain Amounts#exact exact}; the charges of a run are the sum of these costs,
     *            rounded once
     * @param model whose price applies, or which the report names; null if absent
     * @param agent null for the run's default agent
     * @param priceVersion version of the applied price; null if the cost was reported
     * @param estimated whether some of the tokens are an upper bound, as their provider has not reported them
     */
    public record Use(BigDecimal cost, String tool, @Nullable String model, @Nullable String agent, Tokens tokens,
            @Nullable Integer priceVersion, Purpose purpose, boolean estimated) {}
}
