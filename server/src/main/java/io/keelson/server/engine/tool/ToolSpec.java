package io.keelson.server.engine.tool;

import io.keelson.core.policy.Effects;
import java.time.Duration;
import tools.jackson.databind.JsonNode;

/**
 * A tool's description of itself.
 *
 * @param name unique in the catalogue, {@code area.verb} or a single word
 * @param description one sentence for people and for planners
 * @param inputSchema JSON Schema 2020-12 of the input
 * @param outputSchema JSON Schema 2020-12 of the output
 * @param defaultTimeout how long a call may take unless step or task specify it
 * @param engineOwned true when the engine itself carries it out (a durable timer) and no executor may claim it
 * @param slot the kind of slot that a call uses
 * @param effects of a call on anything outside the run
 * @param openWorld true when its results come from outside, such as the internet: they may be text of strangers
 */
public record ToolSpec(String name, String description, JsonNode inputSchema, JsonNode outputSchema,
        Duration defaultTimeout, boolean engineOwned, SlotKind slot, Effects effects, boolean openWorld) {

    /** How the names of tools of a workspace's servers of the Model Context Protocol begin. */
    public static final String MCP = "mcp.";

    /** A tool whose calls compute, and which says nothing about their effects. */
    public ToolSpec(String name, String description, JsonNode inputSchema, JsonNode outputSchema,
            Duration defaultTimeout, boolean engineOwned) {
        this(name, description, inputSchema, outputSchema, defaultTimeout, engineOwned, SlotKind.COMPUTING,
                Effects.DESTRUCTIVE);
    }

    /** A tool whose results come from its inputs and from what users have given the server. */
    public ToolSpec(String name, String description, JsonNode inputSchema, JsonNode outputSchema,
            Duration defaultTimeout, boolean engineOwned, SlotKind slot, Effects effects) {
        this(name, description, inputSchema, outputSchema, defaultTimeout, engineOwned, slot, effects, false);
    }

    /** A copy whose calls wait. */
    public ToolSpec waiting() {
        return using(SlotKind.WAITING);
    }

    /** A copy whose calls use such slots. */
    public ToolSpec using(SlotKind other) {
        return new ToolSpec(name, description, inputSchema, outputSchema, defaultTimeout, engineOwned, other, effects,
                openWorld);
    }

    /** A copy whose calls have these effects. */
    public ToolSpec having(Effects other) {
        return new ToolSpec(name, description, inputSchema, outputSchema, defaultTimeout, engineOwned, slot, other,
                openWorld);
    }

    /** A copy whose results come from outside: they may be text of strangers. */
    public ToolSpec reachingOut() {
        return new ToolSpec(name, description, inputSchema, outputSchema, defaultTimeout, engineOwned, slot, effects,
                true);
    }
}
