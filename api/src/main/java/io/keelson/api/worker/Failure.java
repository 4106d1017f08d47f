package io.keelson.api.worker;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The failure of a step.
 *
 * @param stepId the claimed step
 * @param leaseEpoch epoch of the lease
 * @param tokens tokens used since the claim; output, if {@code usage} does not divide them
 * @param usage tokens by their price
 * @param cost credits; if absent, the tokens by the model's price, else the tool's price
 * @param model model that used the tokens
 * @param progress progress for people
 * @param logs log lines; the first 1000 are stored
 * @param errorCode stable code of the error
 * @param errorClass class that decides about retries; by the code if absent
 * @param message text for people
 * @param retryAfterMs earliest time of the next attempt
 */
@Request
public record Failure(@Ref("StepId") UUID stepId, @Range(min = 1) int leaseEpoch,
        @Default("0") @Range(min = 0, max = 100_000_000) long tokens, @Nullable ReportedUsage usage,
        @Nullable @Range(min = 0, max = 1_000_000, decimals = 12) BigDecimal cost,
        @Nullable @Text(max = 200) String model, @Nullable Progress progress,
        @Default("[]") List<@Text(cleaned = true) String> logs, @Text(pattern = "\\S", max = 100) String errorCode,
        @Nullable @OneOf({
                "infrastructure", "quality", "permanent", "human_rejection", "budget", "dependency",
                "cancelled"}) String errorClass,
        @Default("") @Text(cleaned = true) String message,
        @Nullable @Range(min = 0, max = 604_800_000) Long retryAfterMs) implements Report.WithNotes, Report.WithUse {

    /**
     * The failures of one request.
     *
     * @param workerId the worker
     * @param items failures of steps
     * @param claim claims steps for the slots that the reports free
     */
    @Request
    public record Batch(@Ref("Name") String workerId, @Size(min = 1, max = 1000) List<Failure> items,
            @Nullable FurtherClaim claim) {}
}
