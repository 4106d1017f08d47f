package io.keelson.api.worker;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Extends a lease, and reports use, progress, details and log lines.
 *
 * @param stepId the claimed step
 * @param leaseEpoch epoch of the lease
 * @param tokens tokens used since the claim; output, if {@code usage} does not divide them
 * @param usage tokens by their price
 * @param cost credits; if absent, the tokens by the model's price, else the tool's price
 * @param model model that used the tokens
 * @param progress progress for people
 * @param logs log lines; the first 1000 are stored
 * @param details any JSON, kept for the next attempt
 */
@Request
public record Heartbeat(@Ref("StepId") UUID stepId, @Range(min = 1) int leaseEpoch,
        @Default("0") @Range(min = 0, max = 100_000_000) long tokens, @Nullable ReportedUsage usage,
        @Nullable @Range(min = 0, max = 1_000_000, decimals = 12) BigDecimal cost,
        @Nullable @Text(max = 200) String model, @Nullable Progress progress,
        @Default("[]") List<@Text(cleaned = true) String> logs, @Nullable JsonNode details)
        implements Report.WithNotes, Report.WithUse {

    /** A heartbeat that only extends the lease. */
    public static Heartbeat empty(UUID stepId, int leaseEpoch) {
        return new Heartbeat(stepId, leaseEpoch, 0, null, null, null, null, List.of(), null);
    }

    /** A copy with this use. */
    public Heartbeat using(long all, @Nullable ReportedUsage parts, @Nullable BigDecimal credits,
            @Nullable String named) {
        return new Heartbeat(stepId, leaseEpoch, all, parts, credits, named, progress, logs, details);
    }

    /** A copy with these notes. */
    public Heartbeat with(@Nullable Progress latest, List<String> lines, @Nullable JsonNode latestDetails) {
        return new Heartbeat(stepId, leaseEpoch, tokens, usage, cost, model, latest, lines, latestDetails);
    }

    /**
     * The heartbeats of one request.
     *
     * @param workerId the worker
     * @param items heartbeats of steps
     */
    @Request
    public record Batch(@Ref("Name") String workerId, @Size(min = 1, max = 1000) List<Heartbeat> items) {}
}
