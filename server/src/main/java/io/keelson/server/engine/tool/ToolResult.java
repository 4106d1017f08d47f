package io.keelson.server.engine.tool;

import io.keelson.server.base.artifact.StoredArtifact;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * The result of a successful call.
 *
 * @param usage the call's cost
 * @param artifacts artifacts that the call stored through its sink, in order
 * @param proposals to people; recorded with the step's result
 */
public record ToolResult(JsonNode output, ToolUsage usage, List<StoredArtifact> artifacts, List<Proposed> proposals) {

    public ToolResult {
        artifacts = List.copyOf(artifacts);
        proposals = List.copyOf(proposals);
    }

    /** A result without proposals. */
    public ToolResult(JsonNode output, ToolUsage usage, List<StoredArtifact> artifacts) {
        this(output, usage, artifacts, List.of());
    }

    /** A result that says nothing of its cost and stored nothing. */
    public static ToolResult of(JsonNode output) {
        return new ToolResult(output, ToolUsage.NONE, List.of());
    }
}
