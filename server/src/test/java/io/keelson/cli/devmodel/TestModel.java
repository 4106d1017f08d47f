package io.keelson.cli.devmodel;

import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.Documents;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.ReadResult;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A dev-model on a free port, and a client of it. */
public final class TestModel implements AutoCloseable {

    static final String CHAT = "/v1/chat/completions";
    static final String MESSAGES = "/v1/messages";
    static final String RESPONSES = "/v1/responses";
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC);

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final DevModel model;

    /** @param script YAML */
    public TestModel(String script) throws Exception {
        this(script, null);
    }

    /** @param port that it listens at */
    TestModel(String script, int port) throws Exception {
        this(script, null, port);
    }

    /** @param journal to which the line of each request is appended when it has ended; null for none */
    public TestModel(String script, @Nullable Path journal) throws Exception {
        this(script, journal, 0);
    }

    private TestModel(String script, @Nullable Path journal, int port) throws Exception {
        JsonNode document =
                ((ReadResult.Ok<JsonNode>) Documents.read(script.getBytes(StandardCharsets.UTF_8), Format.YAML))
                        .value();
        if (!Script.problems(document).isEmpty()) {
            throw new IllegalArgumentException(Script.problems(document).toString());
        }
        model = new DevModel(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), new Script(document),
                new Journal(CLOCK, journal), CLOCK);
    }

    /** A server with the models of {@code models.yaml} in the folder, and its data below it. */
    static Server server(Path folder, DatabaseUrl database) throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(database), "KEELSON_MODELS",
                "models.yaml"), folder, folder));
    }

    /** The smallest request of a path, with a message. */
    static String request(String path, String message, String more) {
        String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"" + message + "\"}]";
        return "{\"model\":\"m\"," + switch (path) {
            case CHAT -> messages;
            case MESSAGES -> "\"max_tokens\":100," + messages;
            default -> "\"input\":\"" + message + "\"";
        } + more + "}";
    }

    HttpResponse<String> post(String path, String body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).POST(HttpRequest.BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    JsonNode ask(String path, String message) throws Exception {
        return Json.read(post(path, request(path, message, "")).body());
    }

    HttpResponse<String> get(String path) throws Exception {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString());
    }

    public List<JsonNode> journal() throws Exception {
        return get("/journal").body().lines().map(Json::read).toList();
    }

    /** The request that came last. */
    JsonNode newest() throws Exception {
        return journal().getLast();
    }

    /** A connection on which the request was sent; its answer is for the caller to read. */
    Socket send(String path, String body) throws Exception {
        return raw("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
    }

    /** A connection on which these bytes were sent. */
    Socket raw(String bytes) throws Exception {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), model.port());
        socket.getOutputStream().write(bytes.getBytes(StandardCharsets.UTF_8));
        return socket;
    }

    public URI uri(String path) {
        return URI.create("http://127.0.0.1:" + model.port() + path);
    }

    @Override
    public void close() throws Exception {
        client.close();
        model.close();
    }
}
