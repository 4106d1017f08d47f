package io.keelson.server.tool;

import io.keelson.server.artifact.StoredArtifact;
import java.math.BigDecimal;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * What a successful call gave.
 *
 * @param tokens used by the call, 0 for tools without a model
 * @param cost in USD, never negative
 * @param artifacts what the call stored through its sink, in order
 */
public record ToolResult(JsonNode output, long tokens, BigDecimal cost, List<StoredArtifact> artifacts) {

    public ToolResult {
        artifacts = List.copyOf(artifacts);
    }

    /** A result that cost nothing and stored nothing. */
    public static ToolResult of(JsonNode output) {
        return new ToolResult(output, 0, BigDecimal.ZERO, List.of());
    }
}
