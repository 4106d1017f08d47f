package io.keelson.client;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An agent of the workspace's roster.
 *
 * @param slug unique in the workspace, and never changed
 * @param model the model of its turns; null leaves the choice to the worker
 * @param instructions given to it with each turn; null if absent
 * @param tools all that its turns may call
 * @param capabilities the types of tasks that it is good at
 * @param limits of its work on one task
 * @param runsOn where its turns are taken, {@code server} or {@code workers}; null leaves it to its model
 * @param createdBy id of the API key that made it; null when that is not known
 * @param warnings about tools of MCP servers that no call of the agent reaches now
 */
public record Agent(int id, String slug, String name, @Nullable String description, @Nullable String model,
        @Nullable String instructions, List<String> tools, List<String> capabilities,
        Limits limits, @Nullable String runsOn, @Nullable String createdBy,
        @Nullable Instant createdAt,
        @Nullable Instant updatedAt, List<String> warnings) {

    public Agent {
        warnings = warnings == null ? List.of() : List.copyOf(warnings);
    }

    /**
     * The limits of an agent.
     *
     * @param maxTurns turns of one task at most; null leaves it to the run
     * @param approvals by tool a rule or an array of rules: {@code always}, {@code never}, {@code effects}, {@code tainted}, or
     *                  an object with {@code when}; for other tools their effects decide
     */
    public record Limits(@Nullable Integer maxTurns, Map<String, JsonNode> approvals) {}
}
