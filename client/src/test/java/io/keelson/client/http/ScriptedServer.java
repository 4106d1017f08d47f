package io.keelson.client.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.client.Keelson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The network peer of the client under test: a real HTTP server whose answers a test writes down. */
public final class ScriptedServer implements AutoCloseable {

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    /** @param route method and path, such as {@code GET /api/v1/runs/r1?limit=5} without the query */
    public record Request(String route, String query, Map<String, List<String>> headers, JsonNode body) {

        public String header(String name) {
            return headers.getOrDefault(name, List.of("")).get(0);
        }
    }

    /** @param status 0 cuts the connection instead of answering */
    public record Answer(int status, String body, Map<String, String> headers) {

        public static final Answer CUT = new Answer(0, "", Map.of());

        public static Answer json(String body) {
            return new Answer(200, body, Map.of("Content-Type", "application/json"));
        }

        public static Answer problem(int status, String body) {
            return new Answer(status, body, Map.of("Content-Type", "application/problem+json"));
        }

        public Answer with(String header, String value) {
            Map<String, String> all = new ConcurrentHashMap<>(headers);
            all.put(header, value);
            return new Answer(status, body, all);
        }
    }

    /** Writes one answer. May block, as a server that holds a call open does. */
    @FunctionalInterface
    public interface Script {
        Answer answer(Request request) throws InterruptedException;
    }

    private final Map<String, Script> scripts = new ConcurrentHashMap<>();
    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    public ScriptedServer() {
        this(0);
    }

    public ScriptedServer(int port) {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    public ScriptedServer on(String route, Script script) {
        scripts.put(route, script);
        return this;
    }

    /** Answers in turn; the last one for ever. */
    public ScriptedServer on(String route, Answer... answers) {
        List<Answer> left = new CopyOnWriteArrayList<>(answers);
        return on(route, request -> left.size() > 1 ? left.remove(0) : left.get(0));
    }

    public List<Request> requests(String route) {
        return requests.stream().filter(request -> request.route().equals(route)).toList();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    public String url() {
        return "http://127.0.0.1:" + port();
    }

    public Keelson client() {
        return Keelson.builder().url(url()).apiKey("key-1").timeout(Duration.ofSeconds(10)).build();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        String route = exchange.getRequestMethod() + " " + exchange.getRequestURI().getRawPath();
        String query = exchange.getRequestURI().getRawQuery();
        Request request = new Request(route, query == null ? "" : query, Map.copyOf(exchange.getRequestHeaders()),
                body.length == 0 ? JSON.createObjectNode() : JSON.readTree(body));
        requests.add(request);
        Script script = scripts.getOrDefault(route, any -> Answer.problem(404, "{\"code\":\"NOT_FOUND\"}"));
        try {
            respond(exchange, script.answer(request));
        } catch (InterruptedException e) {
            exchange.close();
        }
    }

    private static void respond(HttpExchange exchange, Answer answer) throws IOException {
        if (answer.status() == 0) {
            // a handler that throws makes the server close the connection without an answer
            throw new IOException("connection cut by the script");
        }
        answer.headers().forEach(exchange.getResponseHeaders()::set);
        byte[] content = answer.body().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.status(), content.length == 0 ? -1 : content.length);
        exchange.getResponseBody().write(content);
        exchange.close();
    }
}
