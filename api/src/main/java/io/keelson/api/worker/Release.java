package io.keelson.api.worker;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Returns a lease without a result.
 *
 * @param stepId the claimed step
 * @param leaseEpoch epoch of the lease
 * @param deferral why the step cannot be executed yet; without it the step may be claimed at once
 */
@Request
public record Release(@Ref("StepId") UUID stepId, @Range(min = 1) int leaseEpoch, @Nullable Deferral deferral)
        implements Report {

    /**
     * Why a step cannot be executed yet.
     *
     * @param retryAfterMs minimum time before the next claim
     * @param busy the busy system, such as {@code model:NAME}
     * @param errorCode code of the failure when it is busy for too long; UPSTREAM_UNAVAILABLE if absent
     * @param message text for people
     */
    @Request
    public record Deferral(@Range(min = 0, max = 31_536_000_000L) long retryAfterMs,
            @Nullable @Text(pattern = "\\S", max = 200) String busy,
            @Nullable @Text(pattern = "\\S", max = 100) String errorCode,
            @Default("") @Text(cleaned = true) String message) {}

    /**
     * The leases of one request.
     *
     * @param workerId the worker
     * @param items leases to return
     * @param claim claims steps for the slots that the reports free
     */
    @Request
    public record Batch(@Ref("Name") String workerId, @Size(min = 1, max = 1000) List<Release> items,
            @Nullable FurtherClaim claim) {}
}
