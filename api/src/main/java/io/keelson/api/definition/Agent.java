package io.keelson.api.definition;

import io.keelson.api.Absent;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An agent of the workspace's roster.
 *
 * @param id number of the agent
 * @param slug name in plans
 * @param name name for people
 * @param description description for agent selection
 * @param model model of its turns; null for that of the run
 * @param instructions instructions for the model
 * @param tools names or patterns of its tools
 * @param capabilities kinds of work for agent selection
 * @param limits limits of each task of the agent
 * @param runsOn where its turns are executed; null for the default
 * @param createdBy name of the principal that created it
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 * @param warnings tools of MCP servers in {@code tools} that no call reaches now, as sentences with the command that
 *     helps
 */
public record Agent(int id, String slug, String name, @Nullable String description, @Nullable String model,
        @Nullable String instructions, List<String> tools, List<String> capabilities, Limits limits,
        @Nullable @OneOf({
                "server", "workers"}) String runsOn,
        @Nullable String createdBy, Instant createdAt,
        Instant updatedAt, List<String> warnings) {

    public Agent {
        warnings = Absent.asEmpty(warnings);
    }

    /**
     * Limits of each task of the agent.
     *
     * @param maxTurns maximum number of turns; null for the default
     * @param approvals by tool, a rule or several: which calls wait for a person. {@code always}; {@code never}; {@code
     *     effects}: if the tool is {@code destructive}, as without a rule; {@code tainted}: if the agent has seen data
     *     from outside and the tool changes something; {@code when}: if the jq expression over the call's input gives a
     *     value other than false and null, or fails. Each of several rules is applied. {@code *} is for tools without
     *     rules of their own, in addition to their effects
     */
    public record Limits(@Nullable Integer maxTurns, @Ref("CallApprovals") Map<String, JsonNode> approvals) {}
}
