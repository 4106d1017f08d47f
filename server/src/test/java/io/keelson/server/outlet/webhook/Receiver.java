package io.keelson.server.outlet.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A receiver of webhooks that answers the next requests as configured and accepts all others. */
public final class Receiver implements AutoCloseable {

    /** Instead of a status: no answer until it is released. */
    public static final int HANG = 0;

    /** Instead of a status: the connection is closed. */
    public static final int BREAK_OFF = -1;

    /** A received request, with any answer. */
    public record Got(String path, String id, String timestamp, String signature, String body) {

        /** How many of its signatures are by this secret, checked as receivers do. */
        public long signedBy(String secret) {
            try {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.substring("whsec_".length())), "x"));
                String own = "v1," + Base64.getEncoder().encodeToString(
                        mac.doFinal((id + "." + timestamp + "." + body).getBytes(StandardCharsets.UTF_8)));
                return Arrays.stream(signature.split(" ")).filter(own::equals).count();
            } catch (java.security.GeneralSecurityException e) {
                throw new AssertionError(e);
            }
        }
    }

    private final HttpServer server;
    private final ConcurrentLinkedQueue<Integer> next = new ConcurrentLinkedQueue<>();
    private final List<Got> got = new CopyOnWriteArrayList<>();
    private final CountDownLatch over = new CountDownLatch(1);

    public Receiver() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::take);
        server.start();
    }

    /** What it answers to the requests that come next, one each. */
    public Receiver then(Integer... statuses) {
        next.addAll(List.of(statuses));
        return this;
    }

    private void take(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Map<String, List<String>> headers = exchange.getRequestHeaders();
            got.add(new Got(exchange.getRequestURI().getPath(), one(headers, "Webhook-id"),
                    one(headers, "Webhook-timestamp"), one(headers, "Webhook-signature"), body));
            Integer planned = next.poll();
            int status = planned == null ? 204 : planned;
            if (status == HANG) {
                over.await();
            }
            if (status == BREAK_OFF) {
                return;
            }
            if (status / 100 == 3) {
                exchange.getResponseHeaders().set("Location", url() + "elsewhere");
            }
            if (status == 429) {
                exchange.getResponseHeaders().set("Retry-After", "1");
            }
            exchange.sendResponseHeaders(status == HANG ? 204 : status, -1);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static String one(Map<String, List<String>> headers, String name) {
        List<String> values = headers.getOrDefault(name, List.of());
        assertThat(values).as(name).hasSizeLessThan(2);
        return values.isEmpty() ? "" : values.getFirst();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    /** Answers the hanging requests. */
    public void release() {
        over.countDown();
    }

    /** In the order in which it came. */
    public List<Got> got() {
        return got;
    }

    @Override
    public void close() {
        release();
        server.stop(0);
    }
}
