package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.NpmServers;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.net.ServerSocket;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** MCP servers that are programs of the operator, and servers of the npm registry. */
@Breadth.Spread
abstract class McpProgramCases extends McpCases {
    McpProgramCases(McpWorkspace mcp) {
        super(mcp);
    }

    @Test
    void serversOfTheNpmRegistryAreUsedInPlans() {
        NpmServers.assumeAvailable();
        JsonNode everything = mcp.put("everything", """
                {"command": "everything", "trusted": true, "tools": ["*"]}""").json();
        assertThat(everything.path("protocol").asString()).isEqualTo("2025-11-25");
        assertThat(everything.path("tools").valueStream().filter(tool -> tool.path("name").asString().equals("echo"))
                .findFirst().orElseThrow().path("effects").asString()).isEqualTo("read");
        String sum = mcp.run("mcp.everything.get-sum", "{\"a\": 2, \"b\": 40}");
        api.awaitState(sum, "completed");
        assertThat(mcp.text(sum)).contains("42");
        String structured = mcp.run("mcp.everything.get-structured-content", "{\"location\": \"New York\"}");
        api.awaitState(structured, "completed");
        assertThat(mcp.step(structured).at("/output/structured").isObject()).isTrue();
        String image = mcp.run("mcp.everything.get-tiny-image", "{}");
        api.awaitState(image, "completed");
        assertThat(mcp.step(image).at("/output/content/0/artifact").asString()).isNotEmpty();
        mcp.put("files", "{\"command\": \"files\", \"tools\": [\"read_text_file\"]}");
        String read = mcp.run("mcp.files.read_text_file",
                Json.object().put("path", mcp.folder.resolve("note.txt").toString()).toString());
        api.awaitState(read, "completed");
        assertThat(mcp.text(read)).isEqualTo("from a file");
        String outside = mcp.run("mcp.files.read_text_file", "{\"path\": \"/etc/passwd\"}");
        api.awaitState(outside, "failed");
        assertThat(mcp.step(outside).toString()).contains("MCP_TOOL_ERROR");
        assertThat(mcp.put("memory", "{\"command\": \"memory\"}").json().path("tools")).isNotEmpty();
    }

    @Test
    void changeOfADefinitionLosesNoCallOfItsProcess() {
        NpmServers.assumeAvailable();
        mcp.put("long", "{\"command\": \"everything\", \"tools\": [\"*\"]}");
        String run = mcp.run("mcp.long.trigger-long-running-operation", "{\"duration\": 3, \"steps\": 3}");
        String logs = "/api/v1/steps/" + mcp.step(run).path("id").asString() + "/logs";
        Awaitility.await().atMost(LIMIT).until(() -> api.get(logs).text().contains("calls trigger-long-running"));
        Answer changed = mcp.put("long", "{\"command\": \"everything\", \"tools\": [\"*\"], \"timeout_seconds\": 20}");
        assertThat(changed.json().path("error").isNull()).as(changed.text()).isTrue();
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).contains("completed");
    }

    /** Over HTTP with sessions and streams of events, as servers of the era with handshakes have them. */
    @Test
    void serverOfTheNpmRegistryBehindHttpIsUsed() throws Exception {
        NpmServers.assumeAvailable();
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        ProcessBuilder builder =
                new ProcessBuilder(NpmServers.command("server-everything", "streamableHttp")).redirectErrorStream(true);
        builder.environment().put("PORT", Integer.toString(port));
        Process process = builder.start();
        try (BufferedReader said = process.inputReader()) {
            while (!String.valueOf(said.readLine()).contains("listening")) {
                assertThat(process.isAlive()).isTrue();
            }
            Answer set =
                    mcp.put("remote", "{\"url\": \"http://127.0.0.1:%d/mcp\", \"tools\": [\"*\"]}".formatted(port));
            assertThat(set.json().path("error").isNull()).as(set.text()).isTrue();
            assertThat(set.json().path("protocol").asString()).isEqualTo("2025-11-25");
            String sum = mcp.run("mcp.remote.get-sum", "{\"a\": 2, \"b\": 40}");
            api.awaitState(sum, "completed");
            assertThat(mcp.text(sum)).contains("42");
            api.send("DELETE", "/api/v1/mcp-servers/remote", null);
            while (!String.valueOf(said.readLine()).contains("session termination request")) {
                assertThat(process.isAlive()).isTrue();
            }
        } finally {
            process.destroyForcibly();
        }
    }

    /** Made with the TypeScript SDK, of the era without handshakes: its question needs no connection. */
    @Test
    void serverOfTheTypeScriptSdkBehindHttpAsksAPerson() throws Exception {
        NpmServers.assumeAvailable();
        Process process = new ProcessBuilder(NpmServers.own("modern.mjs", "http")).redirectErrorStream(true).start();
        try (BufferedReader said = process.inputReader()) {
            Answer set = mcp.put("modern", "{\"url\": \"http://127.0.0.1:%s/mcp\", \"tools\": [\"*\"]}"
                    .formatted(said.readLine()));
            assertThat(set.json().path("error").isNull()).as(set.text()).isTrue();
            assertThat(set.json().path("protocol").asString()).isEqualTo(Mcp.MODERN);
            String run = mcp.run("mcp.modern.greet", "{}");
            JsonNode item = mcp.item(run);
            assertThat(item.path("question").asString()).isEqualTo("The MCP server 'modern' asks: Whom?");
            api.post(item.at("/links/accept").asString(), "{\"content\": {\"name\": \"Ada\"}}");
            api.awaitState(run, "completed");
            assertThat(mcp.text(run)).isEqualTo("Hello Ada");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void programThatIsMissingIsShownAsAnError() {
        Answer none = mcp.put("none", "{\"command\": \"none\", \"tools\": [\"*\"]}");
        assertThat(none.json().path("error").asString())
                .contains("keelson-no-such-program is not on the server's PATH");
    }

    /** A program that answers no call in its first life, and all in its second. */
    @Test
    void programThatDiesIsStartedAgainForCallsThatMayBeRepeated() {
        for (String server : List.of("mortal", "mourned")) {
            mcp.put(server, "{\"command\": \"%s\", \"tools\": [\"*\"], \"effects\": {\"die\": \"%s\"}}"
                    .formatted(server, server.equals("mortal") ? "idempotent" : "once"));
        }
        String repeated = mcp.run("mcp.mortal.die", "{}");
        api.awaitState(repeated, "completed");
        assertThat(mcp.text(repeated)).isEqualTo("alive");
        mcp.put("weak", "{\"command\": \"weak\", \"tools\": [\"*\"], \"effects\": {\"die\": \"idempotent\"}}");
        String rested = mcp.run("mcp.weak.die", "{}");
        api.awaitState(rested, "completed");
        assertThat(mcp.step(rested).path("failures").asInt()).as("without the try that came too early").isEqualTo(2);
        String once = mcp.run("mcp.mourned.die", "{}");
        api.awaitState(once, "failed");
        assertThat(mcp.step(once).toString()).contains("OUTCOME_UNKNOWN");
        api.awaitState(mcp.run("mcp.mourned.die", "{}"), "completed");
    }
}
