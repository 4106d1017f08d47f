package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.inbox.InboxItem;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.work.builtin.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What a server that is killed leaves behind of its MCP servers: nothing on the machine, and all that waits in the database. */
@Breadth.InPart(1)
class McpKillTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void questionsAndTasksSurviveProcessesDoNotAndUnknownCallsAreNotRepeated(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Path pid = folder.resolve("pid");
        Path deaf = folder.resolve("deaf");
        Files.writeString(folder.resolve("mcp.yaml"), """
                servers:
                  hanging:
                    command:
                      - sh
                      - -c
                      - |
                        trap '' TERM; sleep 1000 & echo $! > "$PID_FILE"; read -r line
                        printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}\\n'
                        while :; do sleep 1000; done
                    env: {PID_FILE: "%1$s"}
                  deaf:
                    command:
                      - sh
                      - -c
                      - |
                        sleep 1000 & echo $! > "$PID_FILE"; read -r line
                        printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}\\n'
                        read -r line
                        printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"push","inputSchema":{"type":"object"}}]}}\\n'
                        sleep 1000
                    env: {PID_FILE: "%2$s"}
                """.formatted(pid, deaf));
        Map<String, String> settings = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url),
                "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true", "KEELSON_LEASE_SECONDS", "2",
                "KEELSON_MCP_SERVERS", folder.resolve("mcp.yaml").toString());
        try (FakeMcpServer other = new FakeMcpServer("{}")) {
            ServerProcess first = ServerProcess.start(folder.resolve("data"), settings);
            Keelson keelson = first.client();
            keelson.mcpServers().set("hanging", Json.object().put("command", "hanging"));
            keelson.mcpServers().set("other",
                    Json.object().put("url", other.url()).set("tools", Json.strings(List.of("*"))));
            keelson.mcpServers().set("deaf",
                    Json.object().put("command", "deaf").set("tools", Json.strings(List.of("push"))));
            run(keelson, "deaf.push", Json.object().put("text", "x".repeat(400_000)));
            String asks = run(keelson, "other.ask");
            String works = run(keelson, "other.work");
            String slow = run(keelson, "other.slow");
            InboxItem item = Awaitility.await().atMost(LIMIT).until(() -> keelson.inbox()
                    .list(InboxQuery.all().kind("elicitation")).items().stream().findFirst().orElse(null),
                    found -> found != null);
            Awaitility.await().atMost(LIMIT).until(() -> other.calls("slow").size() == 1
                    && !other.of("tasks/get").isEmpty());
            List<Long> children = List.of(child(pid), child(deaf));
            assertThat(children).allMatch(Processes::alive);
            first.kill();
            Awaitility.await().atMost(LIMIT).until(() -> children.stream().noneMatch(Processes::alive));
            other.tasks.put("t1", "completed");
            try (ServerProcess second = ServerProcess.start(folder.resolve("data"), settings)) {
                Keelson again = second.client();
                again.inbox().answer(item.id(), Json.object().put("name", "Ada"));
                Awaitility.await().atMost(LIMIT).until(() -> again.runs().get(asks).state(), "completed"::equals);
                Awaitility.await().atMost(LIMIT).until(() -> again.runs().get(works).state(), "completed"::equals);
                Awaitility.await().atMost(LIMIT).until(() -> again.runs().get(slow).state(), "failed"::equals);
                assertThat(again.runs().steps(slow).getFirst().toString()).contains("OUTCOME_UNKNOWN");
            }
            assertThat(other.calls("ask").stream().filter(call -> call.path("params").has("inputResponses")))
                    .hasSize(1);
            assertThat(other.calls("work")).hasSize(1);
            assertThat(other.calls("slow")).hasSize(1);
        }
    }

    private static long child(Path pid) throws IOException {
        return Long.parseLong(Files.readString(pid).strip());
    }

    private static String run(Keelson keelson, String tool) {
        return run(keelson, tool, Json.object());
    }

    private static String run(Keelson keelson, String tool, JsonNode input) {
        return keelson.runs()
                .create(RunRequest
                        .of(Json.read("""
                {"name": "%1$s", "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "call", "tool": "mcp.%1$s", "input": %2$s, "timeout_seconds": 60}]}]}}"""
                                .formatted(tool, input)))
                        .start())
                .id();
    }
}
