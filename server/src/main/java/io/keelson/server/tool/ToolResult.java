package io.keelson.server.tool;

import io.keelson.server.artifact.StoredArtifact;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a successful call gave.
 *
 * @param tokens used by the call, 0 for tools without a model
 * @param cost in USD, never negative; null when the tool does not say, and prices decide
 * @param artifacts what the call stored through its sink, in order
 * @param proposals to people; recorded with the step's result
 */
public record ToolResult(JsonNode output, long tokens, @Nullable BigDecimal cost, List<StoredArtifact> artifacts,
        List<Proposed> proposals) {

    public ToolResult {
        artifacts = List.copyOf(artifacts);
        proposals = List.copyOf(proposals);
    }

    /** One that proposes nothing. */
    public ToolResult(JsonNode output, long tokens, @Nullable BigDecimal cost, List<StoredArtifact> artifacts) {
        this(output, tokens, cost, artifacts, List.of());
    }

    /** A result that says nothing of its cost and stored nothing. */
    public static ToolResult of(JsonNode output) {
        return new ToolResult(output, 0, null, List.of());
    }
}
