package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/**
 * Workers that report their cumulative cost with heartbeats, from any of several nodes, and keep a journal of what they sent
 * and of what was acknowledged. Some leave a step without a report.
 */
final class MeteredWorkers implements AutoCloseable {
    static final String TOOL = "test.metered";
    private static final int WORKERS = 4;
    private static final int BEATS = 3;
    private static final int LEASE_MS = 2_000;
    private static final BigDecimal PART = new BigDecimal("0.1000004");

    /** The address of the n-th request. */
    interface Addresses {
        Map<String, String> of(int number) throws IOException;
    }

    /** Costs of one lease in credits: the largest that was sent, and the largest that a server acknowledged. */
    record Spent(BigDecimal sent, BigDecimal acknowledged) {}

    private final Addresses addresses;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpClient http = HttpClient.newHttpClient();
    /** By step and epoch. */
    final Map<String, Spent> journal = new ConcurrentHashMap<>();
    private volatile boolean stopped;

    MeteredWorkers(Addresses addresses) {
        this.addresses = addresses;
        for (int i = 0; i < WORKERS; i++) {
            String name = "metered-" + i;
            threads.execute(() -> work(name));
        }
    }

    private void work(String name) {
        Random random = ThreadLocalRandom.current();
        for (int node = 0; !stopped; node++) {
            JsonNode claimed = post(node, "claim", "{\"worker_id\": \"" + name + "\", \"tools\": [\"" + TOOL
                    + "\"], \"max\": 1, \"wait_ms\": 500, \"lease_ms\": " + LEASE_MS + "}");
            for (JsonNode item : claimed.path("items")) {
                execute(name, node, item, random);
            }
        }
    }

    private void execute(String name, int node, JsonNode item, Random random) {
        BigDecimal cost = BigDecimal.ZERO;
        for (int beat = 0; beat < BEATS; beat++) {
            cost = cost.add(PART);
            String answer = report(name, node + beat, "heartbeat", item, cost, "");
            if (answer.equals("stop") || random.nextInt(15) == 0) {
                return;
            }
        }
        for (int retry = 0; retry < 20; retry++) {
            if (!report(name, node + retry, "complete", item, cost.add(PART), ", \"output\": 1").isEmpty()) {
                return;
            }
        }
    }

    /** @return the status of the answer; empty without one */
    private String report(String name, int node, String route, JsonNode item, BigDecimal cost, String members) {
        String lease = item.get("step_id").asString() + "/" + item.get("lease_epoch").asInt();
        journal.merge(lease, new Spent(cost, BigDecimal.ZERO),
                (old, more) -> new Spent(old.sent.max(more.sent), old.acknowledged));
        JsonNode answer = post(node, route, "{\"worker_id\": \"" + name + "\", \"items\": [{\"step_id\": "
                + item.get("step_id") + ", \"lease_epoch\": " + item.get("lease_epoch") + ", \"cost\": " + cost
                + members
                + "}]}").at("/items/0");
        String status = answer.path("status").asString("");
        if (status.equals("ok") || status.equals("completed")) {
            journal.merge(lease, new Spent(cost, cost), (old, more) -> new Spent(old.sent, old.acknowledged.max(cost)));
        }
        return status;
    }

    /** @return the answer; an empty object without one */
    private JsonNode post(int node, String route, String body) {
        try {
            Map<String, String> address = addresses.of(node);
            byte[] answer = http
                    .send(HttpRequest.newBuilder(URI.create(address.get("KEELSON_URL") + "/api/v1/dispatch/" + route))
                            .header("Authorization", "Bearer " + address.get("KEELSON_API_KEY"))
                            .header("Content-Type", "application/json").timeout(Duration.ofSeconds(5))
                            .POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofByteArray())
                    .body();
            return Json.read(answer);
        } catch (IOException | RuntimeException e) {
            return Json.object();
        } catch (InterruptedException e) {
            stopped = true;
            return Json.object();
        }
    }

    /** Stops and waits until no worker has a step. */
    void stop() throws InterruptedException {
        stopped = true;
        threads.shutdown();
        assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }

    @Override
    public void close() {
        stopped = true;
        threads.shutdownNow();
        http.close();
    }
}
