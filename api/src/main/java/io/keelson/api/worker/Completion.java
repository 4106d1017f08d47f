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
 * The result of a step.
 *
 * @param stepId the claimed step
 * @param leaseEpoch epoch of the lease
 * @param tokens tokens used since the claim; output, if {@code usage} does not divide them
 * @param usage tokens by their price
 * @param cost credits; if absent, the tokens by the model's price, else the tool's price
 * @param model model that used the tokens
 * @param progress progress for people
 * @param logs log lines; the first 1000 are stored
 * @param output the result, any JSON; null if absent
 * @param artifacts small files
 * @param proposals proposals to people; no work waits for the answers
 * @param uploads artifacts that were uploaded under the same lease
 */
@Request
public record Completion(@Ref("StepId") UUID stepId, @Range(min = 1) int leaseEpoch,
        @Default("0") @Range(min = 0, max = 100_000_000) long tokens, @Nullable ReportedUsage usage,
        @Nullable @Range(min = 0, max = 1_000_000, decimals = 12) BigDecimal cost,
        @Nullable @Text(max = 200) String model, @Nullable Progress progress,
        @Default("[]") List<@Text(cleaned = true) String> logs, @Nullable JsonNode output,
        @Default("[]") @Size(max = 100) List<InlineArtifact> artifacts,
        @Default("[]") @Size(max = 20) List<NewProposal> proposals,
        @Default("[]") @Size(max = 100) List<Upload> uploads)
        implements Report.WithNotes, Report.WithUse, Report.WithOutput {

    /**
     * A small file.
     *
     * @param name name of the file
     * @param contentType media type
     * @param contentBase64 at most 1 MiB of bytes in Base64; an item with another text is {@code rejected}, and the others are
     *     done
     */
    @Request
    public record InlineArtifact(@Ref("Name") String name, @Ref("Name") String contentType,
            @Text(max = 1_398_104) String contentBase64) {}

    /**
     * An artifact that was uploaded.
     *
     * @param uploadId as the upload returned it
     */
    @Request
    public record Upload(@Ref("ArtifactId") UUID uploadId) {}

    /**
     * The results of one request.
     *
     * @param workerId the worker
     * @param items results of steps
     * @param next requests the next step of each completed step's task
     * @param claim claims steps for the slots that the reports free, and requests next steps as {@code next} does. Not beside
     *     {@code next}
     */
    @Request
    public record Batch(@Ref("Name") String workerId, @Size(min = 1, max = 1000) List<Completion> items,
            @Nullable Next next, @Nullable FurtherClaim claim) {}

    /**
     * The results of turns, whose tasks get another turn.
     *
     * @param workerId the worker
     * @param items results of steps
     * @param claim claims steps for the slots that the reports free
     */
    @Request
    public record Turns(@Ref("Name") String workerId, @Size(min = 1, max = 1000) List<Completion> items,
            @Nullable FurtherClaim claim) {}

    /**
     * A request for the next step of each completed step's task.
     *
     * @param tools tools that the worker serves
     * @param leaseMs as in a claim
     */
    @Request
    public record Next(@Size(min = 1, max = 500) List<@Ref("Name") String> tools,
            @Nullable @Range(min = 1000, max = 3_600_000) Long leaseMs) {}
}
