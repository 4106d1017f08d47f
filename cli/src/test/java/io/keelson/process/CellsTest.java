package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.NewApiKey;
import io.keelson.api.tenant.Workspace;
import io.keelson.api.trigger.Trigger;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** Two installations, each with a database and workspaces of its own, behind nginx with {@code deploy/cells/nginx.conf}. */
@EnabledIfSystemProperty(named = "keelson.long", matches = "true")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CellsTest {

    private static final Path CONFIGURATION = Path.of("..", "deploy", "cells", "nginx.conf");
    private static final Path NGINX = Path.of("/usr/sbin/nginx");
    private static final Duration LONG = Duration.ofMinutes(1);

    private final HttpClient http = HttpClient.newHttpClient();
    private final String operator = Settings.newBootstrapKey();
    private final Map<String, Server> cells = new LinkedHashMap<>();
    private final Map<String, String> keys = new LinkedHashMap<>();
    private final Map<String, String> workspaces = new LinkedHashMap<>();
    private Path folder;
    private Process router;
    private String url;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        Assumptions.assumeTrue(Files.isExecutable(NGINX), "apt-get install --no-install-recommends nginx-light");
        for (String map : List.of("hosts.map", "keys.map", "workspaces.map", "hooks.map", "cells.conf")) {
            Files.createFile(folder.resolve(map));
        }
        for (String cell : List.of("one", "two")) {
            Path data = folder.resolve(cell);
            Server server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT",
                    "0", "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()), "KEELSON_BOOTSTRAP_KEY",
                    operator, "KEELSON_PUBLIC_URL", "http://" + cell + ".keelson.example"), data, data));
            cells.put(cell, server);
            append("cells.conf", "upstream " + cell + " { server 127.0.0.1:" + server.baseUrl().getPort() + "; }");
            append("hosts.map", cell + ".keelson.example " + cell + ";");
            Keelson there = client(server.baseUrl().toString(), operator);
            Workspace workspace = there.workspaces().create("of cell " + cell, Map.of());
            workspaces.put(cell, workspace.id());
            there.workspaces().grant(workspace.id(), new BigDecimal(100), null, "first credits");
            ApiKey key = there.apiKeys().create(workspace.id(),
                    new NewApiKey("program", null, null, List.of("runs:read", "runs:write", "admin"), null));
            keys.put(cell, key.key());
            append("keys.map", key.key().substring(0, 9) + " " + cell + ";");
            append("workspaces.map", workspace.id().replace("ws_", "") + " " + cell + ";");
        }
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        append("listen.conf", "listen 127.0.0.1:" + port + ";");
        url = "http://127.0.0.1:" + port;
        Files.copy(CONFIGURATION, folder.resolve("nginx.conf"));
        route();
    }

    private void append(String file, String line) throws IOException {
        Files.writeString(folder.resolve(file), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Starts the router with the maps as they are. */
    private void route() throws Exception {
        if (router != null) {
            router.destroy();
            router.waitFor();
        }
        router = new ProcessBuilder(NGINX.toString(), "-p", folder.toString(), "-c",
                folder.resolve("nginx.conf").toString(),
                "-e", folder.resolve("error.log").toString(), "-g",
                "daemon off; master_process off; pid " + folder.resolve("pid") + ";")
                .redirectErrorStream(true).redirectOutput(folder.resolve("nginx.log").toFile()).start();
        Awaitility.await().atMost(LONG).ignoreExceptions().until(() -> get("/livez", null).statusCode() == 421);
    }

    @AfterAll
    void stop() throws Exception {
        if (router != null) {
            router.destroy();
            router.waitFor();
        }
        cells.values().forEach(Server::close);
        http.close();
    }

    private static Keelson client(String url, String key) {
        return Keelson.builder().url(url).apiKey(key).build();
    }

    private HttpResponse<String> get(String path, String key) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path));
        if (key != null) {
            request.header("Authorization", "Bearer " + key);
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private static Mission mission() {
        return Mission.named("in its cell").goal("complete").task("t", task -> task.step("s", "echo", Map.of("n", 1)));
    }

    /** Idempotency keys and external ids are of a workspace, so cells need not know each other's. */
    @Test
    void keyDecidesTheCell() {
        Map<String, String> runs = new LinkedHashMap<>();
        keys.forEach((cell, key) -> {
            Keelson routed = client(url, key);
            RunRequest request = RunRequest.of(mission().toJson()).idempotencyKey("one for both").start();
            String run = routed.runs().create(request).id();
            assertThat(routed.runs().create(request).id()).isEqualTo(run);
            assertThat(routed.runs().awaitEnd(run, LONG).state()).isEqualTo("completed");
            assertThat(client(cells.get(cell).baseUrl().toString(), key).runs().get(run).id()).isEqualTo(run);
            assertThat(routed.whoAmI().workspace().id()).isEqualTo(workspaces.get(cell));
            runs.put(cell, run);
        });
        assertThat(runs.get("one")).isNotEqualTo(runs.get("two"));
        assertThat(catchThrowableOfType(KeelsonException.class,
                () -> client(url, keys.get("two")).runs().get(runs.get("one"))).status()).isEqualTo(404);
    }

    /** One operator's key, which all cells have: its path names the workspace, or the host the cell. */
    @Test
    void pathOfAnOperatorDecidesTheCell() {
        Keelson routed = client(url, operator);
        workspaces.forEach((cell, workspace) -> assertThat(routed.workspaces().get(workspace).name())
                .isEqualTo("of cell " + cell));
        assertThat(catchThrowableOfType(KeelsonException.class, () -> routed.workspaces().list()).status())
                .isEqualTo(421);
    }

    @Test
    void requestsWithoutACellAreRefused() throws Exception {
        assertThat(get("/api/v1/runs", null).statusCode()).isEqualTo(421);
        HttpResponse<String> unknown = get("/api/v1/runs", Settings.newBootstrapKey());
        assertThat(unknown.statusCode()).isEqualTo(421);
        assertThat(Json.read(unknown.body()).path("code").asString()).isEqualTo("CELL_UNKNOWN");
        assertThat(get("/metrics", keys.get("one")).statusCode()).isEqualTo(404);
    }

    /** A browser has no key. A cell that is down leaves the others alone. */
    @Test
    void hostDecidesTheCell() throws Exception {
        append("cells.conf", "upstream three { server 127.0.0.1:1; }");
        append("hosts.map", "three.keelson.example three;");
        route();
        for (String cell : cells.keySet()) {
            assertThat(statusOfHost(cell + ".keelson.example", "/ui/")).isEqualTo("200");
        }
        assertThat(statusOfHost("three.keelson.example", "/ui/")).isEqualTo("502");
        assertThat(statusOfHost("four.keelson.example", "/ui/")).isEqualTo("421");
    }

    private String statusOfHost(String host, String path) throws Exception {
        Process curl = new ProcessBuilder("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: " + host,
                url + path).start();
        return new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void hookDecidesTheCell() throws Exception {
        Map<String, String> paths = new LinkedHashMap<>();
        for (String cell : cells.keySet()) {
            Keelson routed = client(url, keys.get(cell));
            routed.secrets().set("hook", "the secret of the hook");
            Trigger trigger = routed.triggers().create((ObjectNode) Json.read("""
                    {"name": "events", "source": {"kind": "secret", "secrets": ["hook"]}, "key": "${ .body.id }",
                     "example": {"body": {"id": 1}},
                     "mission": {"name": "event", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}}"""));
            append("hooks.map", trigger.path().substring("/hooks/".length()) + " " + cell + ";");
            paths.put(cell, trigger.path());
        }
        route();
        for (Map.Entry<String, String> path : paths.entrySet()) {
            HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create(url + path.getValue()))
                    .header("Content-Type", "application/json").header("X-Webhook-Secret", "the secret of the hook")
                    .POST(BodyPublishers.ofString("{\"id\": 1}")).build(), BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
            String run = Json.read(answer.body()).path("run_id").asString();
            // The run is created after the answer.
            Awaitility.await().atMost(LONG).ignoreExceptions().until(() -> client(url, keys.get(path.getKey())).runs()
                    .get(run).state().equals("completed"));
        }
    }
}
