package io.keelson.api.work;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.MaxCharacters;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A key of a tool's results, with the step that computes the result for others, or has.
 *
 * @param tool name of the tool
 * @param key the first 200 characters of the key as JSON
 * @param keySha256 SHA-256 of the key in canonical JSON, hexadecimal
 * @param runId the run of the step
 * @param stepId the step
 * @param reservedAt when the step began to compute the result
 * @param expiresAt when no step takes the result over any more
 */
public record CachedResult(String tool, String key, String keySha256, @Id String runId, @Id String stepId,
        Instant reservedAt, Instant expiresAt) {

    /**
     * Selects keys. All keys of the workspace if both members are absent.
     *
     * @param tool name of the tool
     * @param key the key's value
     */
    @Request
    public record Clear(@Nullable @Ref("Name") String tool,
            @Nullable @MaxCharacters(65_536) JsonNode key) {}

    /**
     * The effect of a clearing.
     *
     * @param cleared number of keys whose results are not taken over any more
     */
    public record Cleared(@Range(min = 0) int cleared) {}
}
