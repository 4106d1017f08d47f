package io.keelson.bench.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** An HTTP server that answers a GET of {@code /MILLISECONDS} after as long, as a model does, and uses no processor meanwhile. */
public final class SlowAnswers implements AutoCloseable {
    private static final int NO_CONTENT = 204;
    private static final int BACKLOG = 1_000;

    private final HttpServer server;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

    public SlowAnswers() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        server.createContext("/", exchange -> {
            var _ = clock.schedule(() -> answer(exchange),
                    Long.parseLong(exchange.getRequestURI().getPath().substring(1)), TimeUnit.MILLISECONDS);
        });
        server.start();
    }

    /** A URL that is answered after so many milliseconds. */
    public String url(int milliseconds) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/" + milliseconds;
    }

    private static void answer(HttpExchange exchange) {
        try (exchange) {
            exchange.sendResponseHeaders(NO_CONTENT, -1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        clock.shutdownNow();
    }
}
