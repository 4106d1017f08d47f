package io.keelson.server.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.InboxItem;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.server.db.DatabaseUrl;
import io.keelson.server.db.TestDatabase;
import io.keelson.server.json.Json;
import io.keelson.server.mcp.FakeMcpServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a server that is killed leaves behind of its MCP servers: nothing on the machine, and all that waits in the database. */
class McpKillTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void questionsAndTasksSurviveProcessesDoNotAndUnknownCallsAreNotRepeated(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Path pid = folder.resolve("pid");
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
                    env: {PID_FILE: "%s"}
                """.formatted(pid));
        Map<String, String> settings = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url),
                "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true", "KEELSON_LEASE_SECONDS", "2",
                "KEELSON_MCP_SERVERS", folder.resolve("mcp.yaml").toString());
        try (FakeMcpServer other = new FakeMcpServer("{}")) {
            ServerProcess first = ServerProcess.start(folder.resolve("data"), settings);
            Keelson keelson = first.client();
            keelson.mcpServers().set("hanging", Json.object().put("command", "hanging"));
            keelson.mcpServers().set("other",
                    Json.object().put("url", other.url()).set("tools", Json.strings(List.of("*"))));
            String asks = run(keelson, "ask");
            String works = run(keelson, "work");
            String slow = run(keelson, "slow");
            InboxItem item = Awaitility.await().atMost(LIMIT).until(() -> keelson.inbox()
                    .list(InboxQuery.all().kind("elicitation")).items().stream().findFirst().orElse(null),
                    found -> found != null);
            Awaitility.await().atMost(LIMIT).until(() -> other.calls("slow").size() == 1
                    && !other.of("tasks/get").isEmpty());
            long child = Long.parseLong(Files.readString(pid).strip());
            assertThat(ProcessHandle.of(child)).isPresent();
            first.kill();
            Awaitility.await().atMost(Duration.ofSeconds(3)).until(
                    () -> ProcessHandle.of(child).map(ProcessHandle::isAlive).orElse(false), alive -> !alive);
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

    private static String run(Keelson keelson, String tool) {
        return keelson.runs()
                .create(RunRequest
                        .of(Json.read("""
                {"name": "%1$s", "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "call", "tool": "mcp.other.%1$s", "input": {}, "timeout_seconds": 60}]}]}}"""
                                .formatted(tool)))
                        .start())
                .id();
    }
}
