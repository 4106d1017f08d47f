package io.keelson.client;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A server of the Model Context Protocol that a workspace uses.
 *
 * @param url of a server behind HTTP; null for a command
 * @param command name of a command in the operator's file; null for a URL
 * @param trusted whether annotations of its tools count
 * @param allowed the tools that may be used; {@code *} for all
 * @param effects of tools, in place of their annotations
 * @param protocol revision of the protocol that it was last found to speak; null before the first connection
 * @param checkedAt of the last look at its tools
 * @param error of that look; null when it succeeded
 * @param warnings about names of tools in its definition that it does not have, or that are not checked yet
 * @param log the last lines of its standard error on the node that answered; null in lists
 */
public record McpServer(String name, @Nullable String url, @Nullable String command, boolean trusted,
        List<String> allowed, Map<String, String> effects, int timeoutSeconds, @Nullable String protocol,
        @Nullable Instant checkedAt, @Nullable String error, List<String> warnings, List<Tool> tools,
        @Nullable List<String> log) {

    /**
     * One of its tools.
     *
     * @param name without the prefix {@code mcp.SERVER.}
     * @param state {@code allowed}, {@code off}, {@code changed} or {@code gone}
     * @param accepted its description as it is used; null if absent
     * @param seen its description as the server last gave it; null if absent
     */
    public record Tool(String name, String state, String effects, @Nullable JsonNode accepted,
            @Nullable JsonNode seen) {}
}
