package io.keelson.cli.admin;

import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.NewApiKey;
import io.keelson.api.tenant.Workspace;
import io.keelson.client.Keelson;
import io.keelson.devmodel.Script.Question;
import io.keelson.devmodel.ScriptedModel;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.testing.NamedFault;
import io.keelson.server.testing.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A test server with its model, and its requests below {@code /test/}. */
final class TestServerStart implements AutoCloseable {
    private static final String MODEL = "scripted";
    private static final BigDecimal CREDITS = new BigDecimal(1_000);
    private static final List<String> SCOPES =
            List.of("runs:read", "runs:write", "approve", "work", "credits:read", "credits:grant", "admin");
    /** Settings of servers that keep data, and of clients. */
    private static final Set<String> OTHERS =
            Set.of("KEELSON_DATA_DIR", "KEELSON_HTTP_PORT", "KEELSON_HTTP_HOST", "KEELSON_URL", "KEELSON_API_KEY",
                    "KEELSON_CONFIG");

    private final ScriptedModel model;
    private final Path models;
    private final TestServer server;
    private final AtomicBoolean closed = new AtomicBoolean();

    private TestServerStart(Map<String, String> environment, int port, Clock clock)
            throws IOException, StartupException {
        model = new ScriptedModel(clock);
        models = Files.createTempFile("keelson-models-", ".yaml");
        Files.writeString(models, model.file(MODEL));
        Map<String, String> settings = new HashMap<>();
        environment.forEach((name, value) -> {
            if (name.startsWith("KEELSON_") && !OTHERS.contains(name)) {
                settings.put(name, value);
            }
        });
        settings.putIfAbsent("KEELSON_MODELS", models.toString());
        try {
            server = TestServer.start(settings, port, this::answer);
        } catch (StartupException e) {
            discard();
            throw e;
        }
    }

    /**
     * Starts a test server.
     *
     * @param environment its settings
     * @param port 0 for a free one
     */
    static TestServerStart start(Map<String, String> environment, int port, Clock clock) throws StartupException {
        try {
            return new TestServerStart(environment, port, clock);
        } catch (IOException e) {
            throw new StartupException("TEST_SERVER_FAILED", "The test server did not start: " + e.getMessage(), e);
        }
    }

    String url() {
        return server.url().toString();
    }

    private JsonNode answer(String action, @Nullable JsonNode given) {
        JsonNode body = given == null ? Json.object() : given;
        return switch (action) {
            case "POST /test/workspaces" -> workspace(body.path("name").asString("test"));
            case "GET /test/clock" -> clockTime();
            case "POST /test/clock" -> {
                if (!body.path("advance_ms").isIntegralNumber()) {
                    throw new IllegalArgumentException("advance_ms is a number of milliseconds");
                }
                server.clock().advance(Duration.ofMillis(body.path("advance_ms").longValue()));
                yield clockTime();
            }
            case "POST /test/faults" -> {
                fault(NamedFault.of(body.path("fault").asString("")), body.path("tool").stringValue(null),
                        body.path("times").asInt(1));
                yield Json.object();
            }
            case "POST /test/model" -> {
                body.path("answers").forEach(model::add);
                yield Json.object();
            }
            case "GET /test/model" -> questions();
            default -> throw new IllegalArgumentException("a test server has no " + action);
        };
    }

    private void fault(NamedFault fault, @Nullable String tool, int times) {
        if (fault != NamedFault.PROVIDER_500) {
            server.fault(fault, tool, times);
        } else if (tool == null) {
            model.fail(times);
        } else {
            throw new IllegalArgumentException(fault.wire() + " has no tool");
        }
    }

    /** Begins a test: a workspace with credits and a key. Ends scripts and faults of the test before. */
    private JsonNode workspace(String name) {
        model.clear();
        server.clearFaults();
        Keelson operator = Keelson.builder().url(url()).apiKey(server.operatorKey()).build();
        Workspace made = operator.workspaces().create(name, Map.of());
        operator.workspaces().grant(made.id(), CREDITS, "of the test server", UUID.randomUUID().toString());
        ApiKey key = operator.apiKeys().create(made.id(), new NewApiKey("test", null, null, SCOPES, null));
        return Json.object().put("workspace_id", made.id()).put("url", url()).put("api_key", key.key());
    }

    private JsonNode clockTime() {
        return Json.object().put("now", Json.time(server.clock().time()));
    }

    private JsonNode questions() {
        ObjectNode answer = Json.object();
        ArrayNode items = answer.putArray("items");
        for (Question each : model.questions()) {
            items.addObject().put("model", each.model()).put("turn", each.turn()).put("text", each.text())
                    .put("system", each.system()).put("last_tool", each.lastTool());
        }
        return answer;
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            server.close();
            discard();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void discard() throws IOException {
        model.close();
        Files.deleteIfExists(models);
    }
}
