package io.keelson.api.work;

import io.keelson.api.Absent;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Types;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A tool that steps can use.
 *
 * @param name name in plans
 * @param description null for a tool of workers without a description
 * @param source {@code worker} for a tool that only workers serve
 * @param effects effects of a call outside the run: none ({@code read}), none but at the first call under an effect key
 *     ({@code idempotent}), additions with every call ({@code once}), or any ({@code destructive}). Null for a tool of
 *     workers without this information
 * @param defaultTimeoutSeconds timeout of a call where its step has none, in seconds; null for a tool of workers
 * @param timeoutBy what bounds a call whose step has no {@code timeout_seconds}: the time of the tool, or for a tool of
 *     workers that of the task (its {@code timeout_seconds}, else {@code config.timeouts.task_seconds}) while its worker
 *     sends heartbeats
 * @param inputSchema JSON Schema of the input; null for a tool of workers without one
 * @param outputSchema JSON Schema of the output; null for a tool of workers
 * @param mcp for a tool of an MCP server; null for all others. Tools that the workspace does not allow are not listed
 */
public record ToolInfo(String name, @Nullable String description,
        @OneOf({
                "builtin", "worker", "mcp"}) String source,
        @Nullable @OneOf({"read", "idempotent", "once", "destructive"}) String effects,
        @Nullable @Range(min = 0) Integer defaultTimeoutSeconds, @OneOf({"tool", "task"}) String timeoutBy,
        @Types({"object", "boolean", "null"}) JsonNode inputSchema,
        @Types({"object", "boolean", "null"}) JsonNode outputSchema, @Nullable Mcp mcp) {

    public ToolInfo {
        inputSchema = Absent.asNull(inputSchema);
        outputSchema = Absent.asNull(outputSchema);
    }

    /**
     * For a tool of an MCP server; null for all others. Tools that the workspace does not allow are not listed.
     *
     * @param server as the workspace names it
     * @param state {@code changed}: the server describes it otherwise than accepted, and it is not called. {@code gone}:
     *     the server has it no more
     * @param trusted whether annotations of the server's tools count
     */
    public record Mcp(String server, @OneOf({"allowed", "changed", "gone"}) String state, boolean trusted) {}
}
