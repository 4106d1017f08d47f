package io.keelson.server.annex.mcp;

import io.keelson.core.policy.Effects;
import tools.jackson.databind.JsonNode;

/** The effects of a tool by its annotations. */
final class McpEffects {

    private McpEffects() {}

    /** Annotations count only of servers that are trusted; without any a tool may destroy. The definition's marks come first. */
    static Effects of(McpDefinition definition, String tool, JsonNode annotations) {
        Effects marked = definition.effects().get(tool);
        if (marked != null) {
            return marked;
        }
        if (!definition.trusted()) {
            return Effects.DESTRUCTIVE;
        }
        if (annotations.path("readOnlyHint").asBoolean(false)) {
            return Effects.READ;
        }
        boolean destructive = annotations.path("destructiveHint").asBoolean(true);
        if (destructive) {
            return Effects.DESTRUCTIVE;
        }
        return annotations.path("idempotentHint").asBoolean(false) ? Effects.IDEMPOTENT : Effects.ONCE;
    }
}
