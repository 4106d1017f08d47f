package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.annex.mcp.NpmServers;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A server whose workspace uses the MCP server {@code other}, and short words for what tests do with it. */
final class McpWorkspace implements AutoCloseable {
    /** A run, by: whether it starts, the tool, its input. */
    static final String CALL =
            """
            {"name": "mcp", "start": %b, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
              {"name": "call", "tool": "%s", "input": %s, "retry": {"max_attempts": 3, "base_delay_seconds": 0.05}}]}]}}""";

    /** Its argument is a file that exists in its second life; of the weak one a start in between fails. */
    private static final String MORTAL =
            """
            [ ! -f "$0.down" ] || { rm "$0.down"; exit 1; }
            result() { printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",%s}}\\n' "$id" "$1"; }
            while read -r line; do
              id=$(printf %s "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
              case $line in
                *server/discover*) result '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}' ;;
                *tools/list*) result '"tools":[{"name":"die","inputSchema":{"type":"object"}}]' ;;
                *tools/call*) [ -f "$0" ] || { touch "$0"; case $0 in *weak) touch "$0.down" ;; esac; exit 1; }
                  result '"content":[{"type":"text","text":"alive"}]' ;;
              esac
            done""";

    final ApiServer api;
    /** It claims that its tools only read. */
    final FakeMcpServer other;
    /** What its programs may read. */
    final Path folder;

    McpWorkspace(Path folder) throws Exception {
        this.folder = folder;
        Files.writeString(folder.resolve("mcp.json"), commands(folder));
        Files.writeString(folder.resolve("note.txt"), "from a file");
        api = new ApiServer(folder.resolve("data"), TestDatabase.createUrl(), Map.of("KEELSON_ALLOW_PRIVATE_ADDRESSES",
                "true", "KEELSON_MCP_SERVERS", folder.resolve("mcp.json").toString()));
        other = new FakeMcpServer("{\"readOnlyHint\": true}");
        api.put("/api/v1/secrets/token", "{\"value\": \"very-secret\"}");
        put("other", """
                {"url": "%s", "bearer": "${ secret(\\"token\\") }", "tools": ["*"]}""".formatted(other.url()));
    }

    /** Commands of servers of the npm registry where it is, and one that is always there. */
    private static String commands(Path folder) {
        ObjectNode servers = Json.object();
        servers.putObject("none").set("command", Json.strings(List.of("keelson-no-such-program")));
        for (String name : List.of("mortal", "mourned", "weak")) {
            servers.putObject(name).set("command",
                    Json.strings(List.of("sh", "-c", MORTAL, folder.resolve(name).toString())));
        }
        if (NpmServers.available()) {
            servers.putObject("everything").set("command", Json.strings(NpmServers.command("server-everything")));
            servers.putObject("files").set("command",
                    Json.strings(NpmServers.command("server-filesystem", folder.toString())));
            servers.putObject("memory").set("command", Json.strings(NpmServers.command("server-memory")));
        }
        ObjectNode document = Json.object();
        document.set("servers", servers);
        return document.toString();
    }

    /** Sets an MCP server. */
    Answer put(String name, String json, String... headers) {
        return api.put("/api/v1/mcp-servers/" + name, json, headers);
    }

    /** Sets an MCP server of which agents and plans may use these tools. */
    Answer put(String name, FakeMcpServer server, String... tools) {
        return put(name, Json.object().put("url", server.url()).set("tools", Json.strings(List.of(tools)))
                .toString());
    }

    /** Starts a run with one call. */
    String run(String tool, String input) {
        return api.create(CALL.formatted(true, tool, input));
    }

    /** Codes and places of the problems for which a run that calls the tool is refused. */
    List<String> refusal(String tool) {
        Answer refused = api.post("/api/v1/runs", CALL.formatted(true, tool, "{}"));
        assertThat(refused.status()).isEqualTo(422);
        return refused.json().path("problems").valueStream()
                .map(problem -> problem.path("code").asString() + problem.path("pointer").asString()).toList();
    }

    /** The inbox item of the run, for which it waits. */
    JsonNode item(String run) {
        return Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0"), JsonNode::isObject);
    }

    /** The text that the run's call gave. */
    String text(String run) {
        return step(run).at("/output/text").asString();
    }

    /** The run's first step. */
    JsonNode step(String run) {
        return api.get("/api/v1/runs/" + run + "/steps").json().at("/items/0");
    }

    @Override
    public void close() {
        api.close();
        other.close();
    }
}
