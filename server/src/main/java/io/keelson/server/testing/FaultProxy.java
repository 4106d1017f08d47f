package io.keelson.server.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Passes requests on to a server. A fault breaks some of them, and a {@link TestServer.Control} answers others. */
final class FaultProxy implements AutoCloseable {
    private static final Set<String> OWN_HEADERS = Set.of("host", "connection", "content-length", "transfer-encoding",
            "upgrade", "expect", "http2-settings", "keep-alive", "te", "trailer");
    private static final String WORKERS = "/api/v1/dispatch/";
    private static final String CONTROL = "/test/";
    private static final int CHUNK_SIZE = 16_384;

    private final URI server;
    private final TestServer.@Nullable Control control;
    private final DispatchFaults faults = new DispatchFaults();
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer listener;

    static {
        // Otherwise each answer waits 40 ms for an acknowledgement of its head.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    FaultProxy(URI server, int port, TestServer.@Nullable Control control) throws IOException {
        this.server = server;
        this.control = control;
        listener = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        listener.createContext("/", this::handle);
        listener.setExecutor(threads);
        listener.start();
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + listener.getAddress().getPort());
    }

    void add(NamedFault fault, @Nullable String tool, int times) {
        faults.add(fault, tool, times);
    }

    void clear() {
        faults.clear();
    }

    private void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (control != null && path.startsWith(CONTROL)) {
                control(exchange, control, path, body);
            } else if (path.startsWith(WORKERS) && exchange.getRequestMethod().equals("POST")) {
                worker(exchange, path.substring(WORKERS.length()), body);
            } else {
                pass(exchange, body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the proxy was closed", e);
        }
    }

    private static void control(HttpExchange exchange, TestServer.Control control, String path, byte[] body)
            throws IOException, InterruptedException {
        try {
            JsonNode given = body.length == 0 ? null : Json.read(body);
            answer(exchange, 200, control.answer(exchange.getRequestMethod() + " " + path, given));
        } catch (IllegalArgumentException | JacksonException e) {
            answer(exchange, 400, Json.object().put("code", "TEST_REQUEST_INVALID").put("status", 400)
                    .put("title", "Invalid request to the test server").put("detail", e.getMessage()));
        }
    }

    /** A request of a worker, which is JSON and so are its answers. */
    private void worker(HttpExchange exchange, String action, byte[] body) throws IOException, InterruptedException {
        DispatchFaults.Request request = faults.request(action, body);
        // The handler of an exchange that throws closes the connection.
        if (request.loss() == DispatchFaults.Loss.REQUEST) {
            throw new IOException("the request is lost by a fault of the test");
        }
        if (request.forwarded() == null) {
            answer(exchange, 200, request.answer(null));
            return;
        }
        HttpResponse<byte[]> response =
                client.send(request(exchange, request.forwarded(), false), BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) {
            send(exchange, response, response.body());
            return;
        }
        JsonNode answer = request.answer(Json.read(response.body()));
        if (request.loss() == DispatchFaults.Loss.ANSWER) {
            throw new IOException("the answer is lost by a fault of the test");
        }
        send(exchange, response, Json.write(answer));
    }

    private void pass(HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
        HttpResponse<InputStream> response = client.send(request(exchange, body, true), BodyHandlers.ofInputStream());
        head(exchange, response);
        try (InputStream content = response.body()) {
            int status = response.statusCode();
            if (status == 204 || status == 304 || exchange.getRequestMethod().equals("HEAD")) {
                exchange.sendResponseHeaders(status, -1);
                return;
            }
            long length = response.headers().firstValueAsLong("content-length").orElse(0);
            boolean known = response.headers().firstValue("content-length").isPresent();
            exchange.sendResponseHeaders(status, known ? length == 0 ? -1 : length : 0);
            if (known && length == 0) {
                return;
            }
            OutputStream out = exchange.getResponseBody();
            byte[] piece = new byte[CHUNK_SIZE];
            for (int read = content.read(piece); read >= 0; read = content.read(piece)) {
                out.write(piece, 0, read);
                out.flush();
            }
            out.close();
        }
    }

    private HttpRequest request(HttpExchange exchange, byte[] body, boolean packed) {
        HttpRequest.Builder request = HttpRequest.newBuilder(server.resolve(exchange.getRequestURI().toString()))
                .method(exchange.getRequestMethod(),
                        body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
        exchange.getRequestHeaders().forEach((name, values) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (!OWN_HEADERS.contains(lower) && (packed || !lower.equals("accept-encoding"))) {
                values.forEach(value -> request.header(name, value));
            }
        });
        return request.build();
    }

    private static void head(HttpExchange exchange, HttpResponse<?> response) {
        response.headers().map().forEach((name, values) -> {
            if (!OWN_HEADERS.contains(name.toLowerCase(Locale.ROOT)) && !name.startsWith(":")) {
                values.forEach(value -> exchange.getResponseHeaders().add(name, value));
            }
        });
    }

    private static void send(HttpExchange exchange, HttpResponse<?> response, byte[] body) throws IOException {
        head(exchange, response);
        exchange.sendResponseHeaders(response.statusCode(), body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    private static void answer(HttpExchange exchange, int status, JsonNode document) throws IOException {
        byte[] body = document.toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        listener.stop(0);
        threads.shutdownNow();
        client.shutdownNow();
    }
}
