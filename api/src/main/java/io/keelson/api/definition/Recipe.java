package io.keelson.api.definition;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import io.keelson.api.Shape.Types;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A mission that is kept to be run again. JSON components are never Java null: an absent member is a JSON null.
 *
 * @param id id of the resource
 * @param workspaceId id of its workspace
 * @param name unique in the workspace
 * @param description the goal of its mission
 * @param version number of the version, from 1
 * @param inputs its parameters, each a JSON Schema; those without a default must be given. In lists null when they are
 *     longer than 16,384 bytes
 * @param omitted in lists, the members whose values were omitted; the read of a single recipe returns them
 * @param tags tags of the mission
 * @param templateId id for display; null if absent
 * @param originatedFrom the run that it was saved from
 * @param createdBy name of the principal that created it
 * @param createdAt time of its creation
 * @param updatedBy name of the principal that changed it last
 * @param updatedAt time of its last change
 * @param mission absent in lists
 * @param steps its tasks in an order that respects their dependencies, for display; absent in lists and old versions
 * @param executionConfig parts of its configuration, for display; absent in lists and old versions
 */
public record Recipe(@Id String id, @Id String workspaceId, String name, @Nullable String description,
        @Range(min = 1) int version, @Types({
                "object", "null"}) JsonNode inputs,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<@OneOf("inputs") String> omitted,
        List<String> tags, @Nullable String templateId, @Nullable @Id String originatedFrom,
        @Nullable String createdBy, Instant createdAt, @Nullable String updatedBy, Instant updatedAt,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @Ref("Mission") JsonNode mission,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<RecipeStep> steps,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable ExecutionConfig executionConfig) {

    public Recipe {
        inputs = Absent.asNull(inputs);
    }

    /**
     * Parts of its configuration, for display; absent in lists and old versions.
     *
     * @param mode order of the tasks
     * @param budget as {@code config.budget} of the mission
     * @param maxRetries as {@code config.retry.max_retries_per_task} of the mission
     * @param originatedFrom figures of the run that it was saved from
     */
    public record ExecutionConfig(@OneOf({
            "sequential", "parallel"}) String mode,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable ObjectNode budget,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @Range(min = 0) Integer maxRetries,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable OriginatedFrom originatedFrom) {

        /**
         * Figures of the run that it was saved from.
         *
         * @param missionRunId id of that run
         * @param actualCost cost in credits
         * @param actualTokens tokens of that run
         * @param actualDurationMs duration in milliseconds; null while it is open
         * @param completedAt time of its end; null while it is open
         */
        public record OriginatedFrom(@Id String missionRunId, @Range(min = 0) BigDecimal actualCost,
                @Range(min = 0) long actualTokens, @Nullable @Range(min = 0) Long actualDurationMs,
                @Nullable Instant completedAt) {}
    }

    /**
     * A version in a list, without its mission.
     *
     * @param version number of the version, from 1
     * @param createdBy name of the principal that created it
     * @param createdAt time of its creation
     */
    public record Version(@Range(min = 1) int version, String createdBy, Instant createdAt) {}

    /**
     * Saves a run as a recipe.
     *
     * @param name name of the recipe; the name of the run if absent
     */
    @Request
    public record OfRun(@Nullable @Text(format = "name", max = 200) String name) {}
}
