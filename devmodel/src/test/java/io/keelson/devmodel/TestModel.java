package io.keelson.devmodel;

import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialects;
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
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** A dev-model on a free port, and a client of it. */
public final class TestModel implements AutoCloseable {

    public static final String CHAT = "/v1/chat/completions";
    public static final String MESSAGES = "/v1/messages";
    public static final String RESPONSES = "/v1/responses";
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC);

    private static final YAMLMapper YAML =
            YAMLMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final DevModel model;

    /** @param script YAML */
    public TestModel(String script) throws Exception {
        this(script, null);
    }

    /** @param port that it listens at */
    public TestModel(String script, int port) throws Exception {
        this(script, null, port);
    }

    /** @param journal to which the line of each request is appended when it has ended; null for none */
    public TestModel(String script, @Nullable Path journal) throws Exception {
        this(script, journal, 0);
    }

    private TestModel(String script, @Nullable Path journal, int port) throws Exception {
        JsonNode document = YAML.readTree(script);
        var problems = SchemaRegistry.withDefaultDialect(Dialects.getDraft202012()).getSchema(Script.schema())
                .validate(document);
        if (!problems.isEmpty() || !Script.contradictions(document).isEmpty()) {
            throw new IllegalArgumentException(problems + " " + Script.contradictions(document));
        }
        model = new DevModel(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), new Script(document),
                new Journal(CLOCK, journal), CLOCK);
    }

    /** The smallest request of a path, with a message. */
    public static String request(String path, String message, String more) {
        String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"" + message + "\"}]";
        return "{\"model\":\"m\"," + switch (path) {
            case CHAT -> messages;
            case MESSAGES -> "\"max_tokens\":100," + messages;
            default -> "\"input\":\"" + message + "\"";
        } + more + "}";
    }

    public HttpResponse<String> post(String path, String body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).POST(HttpRequest.BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    public JsonNode ask(String path, String message) throws Exception {
        return Json.read(post(path, request(path, message, "")).body());
    }

    public HttpResponse<String> get(String path) throws Exception {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString());
    }

    public List<JsonNode> journal() throws Exception {
        return get("/journal").body().lines().map(Json::read).toList();
    }

    /** The request that came last. */
    public JsonNode newest() throws Exception {
        return journal().getLast();
    }

    /** A connection on which the request was sent; its answer is for the caller to read. */
    public Socket send(String path, String body) throws Exception {
        return raw("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
    }

    /** A connection on which these bytes were sent. */
    public Socket raw(String bytes) throws Exception {
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
