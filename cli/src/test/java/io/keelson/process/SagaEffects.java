package io.keelson.process;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.server.annex.mcp.FakeMcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Systems with the effects of sagas, which do each once for each key. The third effect and the undo of the fourth are calls of an MCP
 * server, the others requests over HTTP. The undo of the second is refused until a person has seen that. The fifth is never answered,
 * and done in every other saga.
 */
final class SagaEffects implements AutoCloseable {
    static final int COUNT = 5;
    static final int REFUSED = 2;
    private static final int UNANSWERED = 5;
    private static final String DO = "do";
    private static final String UNDO = "undo";

    final FakeMcpServer other = new FakeMcpServer("{}");
    private final HttpServer server;
    private final Map<Integer, Saga> sagas = new ConcurrentHashMap<>();

    SagaEffects() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::take);
        server.start();
    }

    /** The number of an effect from the key of its task, or of the task that undoes it. */
    static int number(@Nullable String key) {
        return Integer.parseInt(String.valueOf(key).replace("undo.", "").substring(1));
    }

    Saga begin(int number) {
        return sagas.computeIfAbsent(number, each -> new Saga(each, other));
    }

    /** The input of {@code http.request}. */
    Map<String, Object> request(int saga, String what, int effect) {
        String url = "http://127.0.0.1:%s/%s/%s/%s".formatted(server.getAddress().getPort(), saga, what, effect);
        boolean unanswered = what.equals(DO) && effect == UNANSWERED;
        return Map.of("method", "POST", "url", url, "timeout_seconds", unanswered ? 0.2 : 30);
    }

    private void take(HttpExchange exchange) throws IOException {
        String[] path = exchange.getRequestURI().getPath().split("/");
        int effect = Integer.parseInt(path[3]);
        int status = begin(Integer.parseInt(path[1])).take(path[2], effect,
                exchange.getRequestHeaders().getFirst("Idempotency-Key"));
        if (path[2].equals(DO) && effect == UNANSWERED) {
            return;
        }
        byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
        other.close();
    }

    /** The effects of one saga. */
    static final class Saga {
        private final int number;
        private final FakeMcpServer other;
        private final Map<String, Set<String>> keys = new HashMap<>();
        private final List<Integer> order = new ArrayList<>();
        private boolean refusing = true;

        private Saga(int number, FakeMcpServer other) {
            this.number = number;
            this.other = other;
        }

        private synchronized int take(String what, int effect, String key) {
            boolean undo = what.equals(UNDO);
            if (undo && effect == REFUSED && refusing) {
                return 409;
            }
            boolean lost = !undo && effect == UNANSWERED && number % 2 == 0;
            if (!lost && keys.computeIfAbsent(what + effect, _ -> new HashSet<>()).add(key) && undo) {
                order.add(effect);
            }
            return 200;
        }

        /** From now on, no undo is refused. */
        synchronized void accept() {
            refusing = false;
        }

        /** How many times an effect was done. */
        synchronized int done(int effect) {
            return effect == 3 ? calls("add") : keys.getOrDefault(DO + effect, Set.of()).size();
        }

        synchronized int undone(int effect) {
            return effect == 4 ? calls("note") : keys.getOrDefault(UNDO + effect, Set.of()).size();
        }

        private int calls(String tool) {
            return (int) other.calls(tool).stream()
                    .filter(call -> call.at("/params/arguments/n").asInt(0) == number).count();
        }

        /** The effects whose undos were requested over HTTP, in the order of these requests. */
        synchronized List<Integer> order() {
            return List.copyOf(order);
        }

        @Override
        public synchronized String toString() {
            return "saga " + number + " did " + keys + ", add " + calls("add") + ", note " + calls("note");
        }
    }
}
