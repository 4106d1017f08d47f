package io.keelson.server.api.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A provider of deployments and orders that counts its requests and can simulate faults. */
public final class TestProvider implements AutoCloseable {

    /** The behaviour of the next changing request. */
    enum Mood {
        GOOD, REFUSES, FORBIDS, FAILS, BUSY, HOLDS, LOSES_ITS_ANSWER, HOLDS_AND_LOSES_ITS_ANSWER, ANSWERS_BEYOND_NUMBERS
    }

    /** One call that changes something. */
    public record Asked(String path, String key, String token, String body) {}

    private final HttpServer server;
    private final List<Asked> asked = new CopyOnWriteArrayList<>();
    private final Map<String, ObjectNode> byKey = new ConcurrentHashMap<>();
    private final List<Mood> moods = new CopyOnWriteArrayList<>();
    private final Semaphore held = new Semaphore(0);
    private volatile int mostAskedFor;

    public TestProvider() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    public List<Asked> asked() {
        return List.copyOf(asked);
    }

    /** How many things it has made. */
    public int made() {
        return byKey.size();
    }

    /** Of how many things one call has asked at most. */
    int mostAskedFor() {
        return mostAskedFor;
    }

    /** Has a held call answered. */
    void letGo() {
        held.release();
    }

    void next(Mood... coming) {
        moods.addAll(List.of(coming));
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        if (exchange.getRequestMethod().equals("GET")) {
            send(exchange, 200, list(exchange.getRequestURI().getQuery()));
            return;
        }
        String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
        Mood mood;
        synchronized (moods) {
            asked.add(new Asked(path, key, exchange.getRequestHeaders().getFirst("Authorization"),
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
            mood = moods.isEmpty() ? Mood.GOOD : moods.removeFirst();
        }
        switch (mood) {
            case GOOD -> send(exchange, 201, make(path, key));
            case REFUSES -> send(exchange, 422, Json.object().put("error", "no such symbol"));
            case FORBIDS -> send(exchange, 401, Json.object().put("error", "expired"));
            case ANSWERS_BEYOND_NUMBERS -> send(exchange, 201,
                    make(path, key).deepCopy().put("most", new BigDecimal("1e400000")));
            case FAILS -> send(exchange, 500, Json.object());
            case BUSY -> {
                exchange.getResponseHeaders().add("Retry-After", "1");
                send(exchange, 429, Json.object());
            }
            case HOLDS -> {
                held.acquireUninterruptibly();
                send(exchange, 201, make(path, key));
            }
            case LOSES_ITS_ANSWER -> {
                make(path, key);
                exchange.close();
            }
            case HOLDS_AND_LOSES_ITS_ANSWER -> {
                held.acquireUninterruptibly();
                make(path, key);
                exchange.close();
            }
        }
    }

    private ObjectNode make(String path, String key) {
        return byKey.computeIfAbsent(key, each -> Json.object().put("id", "p" + (byKey.size() + 1))
                .put("status", path.endsWith("/cancel") ? "cancelled" : "open"));
    }

    private synchronized ObjectNode list(String query) {
        ObjectNode page = Json.object();
        ArrayNode items = page.putArray("items");
        List<String> wanted = List.of(query.replace("ids=", "").split(","));
        mostAskedFor = Math.max(mostAskedFor, wanted.size());
        byKey.values().stream().filter(each -> wanted.contains(each.get("id").stringValue())).forEach(items::add);
        return page;
    }

    private static void send(HttpExchange exchange, int status, ObjectNode body) throws IOException {
        byte[] bytes = Json.write(body);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
