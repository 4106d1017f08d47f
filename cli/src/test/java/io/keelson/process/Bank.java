package io.keelson.process;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An external system that counts the payments of each run. Requests with one key at {@code /transfer} are one payment, those at {@code /pay} are not. */
final class Bank implements AutoCloseable {

    private static final Pattern PAID = Pattern.compile("\"of\"\\s*:\\s*\"([\\w-]+)\"");
    private static final String ANSWER = "{\"status\": \"done\"}";

    private final HttpServer server;
    /** Payments by the names of their runs. */
    private final Map<String, Integer> payments = new ConcurrentHashMap<>();
    /** Keys of transfers by the names of their runs. */
    private final Map<String, Set<String>> transfers = new ConcurrentHashMap<>();

    Bank() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/pay", exchange -> answer(exchange, payment -> payments.merge(payment, 1, Integer::sum)));
        server.createContext("/transfer", exchange -> {
            String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
            answer(exchange, transfer -> transfers.computeIfAbsent(transfer, each -> ConcurrentHashMap.newKeySet())
                    .add(key));
        });
        server.start();
    }

    private interface Booking {
        void of(String run);
    }

    private static void answer(HttpExchange exchange, Booking booking) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Matcher paid = PAID.matcher(body);
            booking.of(paid.find() ? paid.group(1) : body);
            byte[] bytes = ANSWER.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** The setting of the types {@code bank.pay} and {@code bank.transfer} by an address. */
    static String types(URI address) {
        return "bank.pay=" + address + "/pay, bank.transfer=" + address + "/transfer idempotent";
    }

    /** Runs that paid or transferred more than once. */
    Set<String> doubled() {
        Set<String> names = new TreeSet<>();
        payments.forEach((run, count) -> {
            if (count > 1) {
                names.add(run);
            }
        });
        transfers.forEach((run, keys) -> {
            if (keys.size() > 1) {
                names.add(run);
            }
        });
        return names;
    }

    /** Runs that paid. */
    Set<String> paid() {
        return new TreeSet<>(payments.keySet());
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
