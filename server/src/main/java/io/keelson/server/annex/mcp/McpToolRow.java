package io.keelson.server.annex.mcp;

import io.keelson.server.base.json.Json;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A tool of a server.
 *
 * @param accepted its description as it may be used; null when it may not
 * @param seen its description as the server last gave it; null when the server has it no more
 */
record McpToolRow(UUID workspaceId, String server, String name, @Nullable JsonNode accepted,
        @Nullable JsonNode seen) {
    private static final Set<String> PINNED =
            Set.of("name", "title", "description", "inputSchema", "outputSchema", "annotations");

    /** The compared part of a tool's description: everything that a model or a policy depends on. */
    static ObjectNode pinned(JsonNode tool) {
        ObjectNode kept = Json.object();
        PINNED.stream().sorted().filter(tool::has).forEach(member -> kept.set(member, tool.get(member)));
        return kept;
    }

    /** {@code allowed}, {@code off}, {@code changed} or {@code gone}. */
    public String state() {
        if (accepted == null) {
            return "off";
        }
        return seen == null ? "gone" : changed() ? "changed" : "allowed";
    }

    /** True when the server describes it otherwise than accepted. */
    public boolean changed() {
        return seen != null && differs(seen);
    }

    /** True when that is another description than the accepted one. */
    boolean differs(JsonNode described) {
        return accepted != null && !Json.digest(accepted).equals(Json.digest(described));
    }
}
