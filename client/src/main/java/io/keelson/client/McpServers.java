package io.keelson.client;

import io.keelson.api.work.McpServer;
import java.time.Duration;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The MCP servers of a workspace. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class McpServers {

    /** The server may have to start a program first. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(90);

    private final Api api;

    McpServers(Api api) {
        this.api = api;
    }

    /** All of them, in order of their names. */
    public List<McpServer> list() {
        return Page.of(api.get("/mcp-servers"), McpServer.class).items();
    }

    /** @throws KeelsonException {@code MCP_SERVER_NOT_FOUND} if the name is unknown */
    public McpServer get(String name) {
        return Json.document(api.get(RequestPath.of("/mcp-servers/", name).toString()), McpServer.class);
    }

    /**
     * Creates or replaces a server, and looks at its tools.
     *
     * @param definition as {@code PUT /mcp-servers/{name}} takes it
     */
    public McpServer set(String name, JsonNode definition) {
        return Json.document(
                api.send(Call.of("PUT", RequestPath.of("/mcp-servers/", name), definition).repeatable()
                        .within(CONNECT_TIMEOUT)).body(),
                McpServer.class);
    }

    /** Looks at the server's tools now. */
    public McpServer check(String name) {
        return post(RequestPath.of("/mcp-servers/", name, "/check"));
    }

    /** Uses a tool as its server describes it now. */
    public McpServer accept(String name, String tool) {
        return post(RequestPath.of("/mcp-servers/", name, "/tools/", tool, "/accept"));
    }

    private McpServer post(RequestPath path) {
        return Json.document(api.send(Call.post(path, null).repeatable().within(CONNECT_TIMEOUT)).body(),
                McpServer.class);
    }

    /** @throws KeelsonException {@code MCP_SERVER_NOT_FOUND} if the name is unknown */
    public void remove(String name) {
        api.send(Call.of("DELETE", RequestPath.of("/mcp-servers/", name), null));
    }
}
