package io.keelson.server.annex.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.auth.Bootstrap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** What makes nodes read all servers and tools again. */
class McpStoreTest {
    private static final UUID WORKSPACE = Bootstrap.DEFAULT_WORKSPACE;
    private static final McpDefinition DEFINITION =
            McpDefinition.of(Json.read("{\"url\": \"http://127.0.0.1:1/mcp\", \"tools\": [\"*\"]}"));

    @Test
    void lookThatFindsTheSameToolsIsNoChange() {
        try (Database database = TestDatabase.create()) {
            Bootstrap.ensureWorkspace(database);
            McpStore store = new McpStore(database);
            String none = store.ofAllWorkspaces(store::fingerprint);
            store.put(WORKSPACE, "one", DEFINITION, AuditOrigin.SERVER);
            McpServerRow server = store.server(WORKSPACE, "one").orElseThrow();
            String set = store.ofAllWorkspaces(store::fingerprint);
            assertThat(set).isNotEqualTo(none);
            Map<String, ObjectNode> tools = Map.of("add", Json.object().put("name", "add"));
            store.seen(server, "2026-07-28", tools);
            String seen = store.ofAllWorkspaces(store::fingerprint);
            assertThat(seen).isNotEqualTo(set);
            store.seen(server, "2026-07-28", tools);
            assertThat(store.ofAllWorkspaces(store::fingerprint)).isEqualTo(seen);
            store.failed(server, "MCP_UNREACHABLE");
            String failed = store.ofAllWorkspaces(store::fingerprint);
            assertThat(failed).as("messages about its tools name the error").isNotEqualTo(seen);
            store.failed(server, "MCP_UNREACHABLE");
            assertThat(store.ofAllWorkspaces(store::fingerprint)).isEqualTo(failed);
            store.remove(WORKSPACE, "one", AuditOrigin.SERVER);
            store.put(WORKSPACE, "one", DEFINITION, AuditOrigin.SERVER);
            assertThat(store.ofAllWorkspaces(store::fingerprint)).as("a new one of the same name").isNotEqualTo(set);
        }
    }
}
