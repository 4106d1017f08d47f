package io.keelson.server.annex.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import io.keelson.server.work.builtin.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The connections of a node to its servers, of which the processes write their ids to files. */
class McpConnectionsTest {

    private static final String ANSWERS = """
            echo $$ >> pids; read -r line
            printf '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}\\n'
            sleep 1000""";

    @Test
    void connectionThatWasReplacedDuringACallEndsWithItsNode(@TempDir Path folder) throws Exception {
        try (Database database = TestDatabase.create(); OutboundClient outbound = new OutboundClient(false)) {
            McpConnections connections = new McpConnections(commands(), outbound,
                    new SecretStore(database, SealingKey.fresh(), List.of()), folder, "1", System::nanoTime);
            McpConnections.Use first = connections.use(server());
            connections.drop(Bootstrap.DEFAULT_WORKSPACE, "one");
            McpConnections.Use second = connections.use(server());
            List<Long> processes = Files.readAllLines(folder.resolve("pids")).stream().map(Long::valueOf).toList();
            assertThat(processes).hasSize(2).allMatch(Processes::alive);
            connections.close();
            Awaitility.await().until(() -> processes.stream().noneMatch(Processes::alive));
            first.close();
            second.close();
        }
    }

    private static McpCommands commands() {
        byte[] file = Json.write(Json.object().set("servers", Json.object().set("one",
                Json.object().set("command", Json.strings(List.of("sh", "-c", ANSWERS))))));
        return ((ReadResult.Ok<McpCommands>) McpCommands.read(file, "mcp.json")).value();
    }

    private static McpServerRow server() {
        return new McpServerRow(Bootstrap.DEFAULT_WORKSPACE, "one",
                McpDefinition.of(Json.read("{\"command\": \"one\"}")), 1, null, null, null, Instant.EPOCH,
                Instant.EPOCH, "test");
    }
}
