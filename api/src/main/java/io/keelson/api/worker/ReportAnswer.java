package io.keelson.api.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.OneOf;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The answer to one item of a batch.
 *
 * @param stepId id of the step
 * @param status outcome of the item; {@code stop} only of heartbeats
 * @param leaseExpiresAt end of the lease after a heartbeat
 * @param reason why a worker is to stop working on the step; the lease is valid with {@code budget_exceeded} only
 * @param code code of a rejection
 * @param detail message of a rejection
 * @param next the next step of the task, which the worker holds since the same commit
 * @param result the stored output, for a repeated report
 * @param pointer JSON pointer to the place in the body that a rejection is about
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ReportAnswer(UUID stepId, @OneOf({
        "ok", "duplicate", "conflict", "stale_lease", "stop", "not_found",
        "rejected"}) String status, @Nullable Instant leaseExpiresAt,
        @Nullable @OneOf({"budget_exceeded", "cancelled", "timed_out", "lost"}) String reason, @Nullable String code,
        @Nullable String detail, @Nullable WorkItem next, @Nullable JsonNode result, @Nullable String pointer) {

    public ReportAnswer {
        Objects.requireNonNull(stepId, "step_id");
        Objects.requireNonNull(status, "status");
    }

    /** A worker is to stop: its lease ended without a report, or by one. */
    public static final String LOST = "lost";

    /** An accepted report. */
    public static ReportAnswer ok(UUID step, @Nullable Instant leaseExpiresAt, @Nullable WorkItem next) {
        return new ReportAnswer(step, "ok", leaseExpiresAt, null, null, null, next, null, null);
    }

    /** A report of a stored result. */
    public static ReportAnswer duplicate(UUID step, @Nullable WorkItem next, @Nullable JsonNode result) {
        return new ReportAnswer(step, "duplicate", null, null, null, null, next, result, null);
    }

    /** A report that changes nothing. */
    public static ReportAnswer refused(UUID step, String status, String code, String detail) {
        return new ReportAnswer(step, status, null, null, code, detail, null, null, null);
    }

    /** A heartbeat of a step on which the worker is to stop working. */
    public static ReportAnswer stop(UUID step, @Nullable Instant leaseExpiresAt, String reason, String code,
            String detail) {
        return new ReportAnswer(step, "stop", leaseExpiresAt, reason, code, detail, null, null, null);
    }

    /** Whether the server cannot accept the report as it is; the worker still has the step. */
    public boolean keepsSlot() {
        return status.equals("rejected");
    }

    /** The place in the body that the rejection is about. */
    public ReportAnswer at(String place) {
        return new ReportAnswer(stepId, status, leaseExpiresAt, reason, code, detail, next, result, place);
    }
}
