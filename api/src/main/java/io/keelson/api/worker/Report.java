package io.keelson.api.worker;

import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A worker's report on a step under its lease. */
public interface Report {

    /** The claimed step. */
    UUID stepId();

    /** Epoch of the lease. */
    int leaseEpoch();

    /** A report with progress for people and log lines. */
    interface WithNotes extends Report {
        /** Progress; null if unchanged. */
        @Nullable Progress progress();

        /** Log lines; empty if absent. */
        List<String> logs();
    }

    /** A report with the use of the step since its claim. */
    interface WithUse extends Report {
        /** Tokens since the claim; 0 if absent. */
        long tokens();

        /** Tokens by their price; null if absent. */
        @Nullable ReportedUsage usage();

        /** Credits; null if the server computes them by prices. */
        @Nullable BigDecimal cost();

        /** Model that used the tokens; null if absent. */
        @Nullable String model();
    }

    /** A report with an output. */
    interface WithOutput extends Report {
        /** The output; null if absent. */
        @Nullable JsonNode output();
    }
}
