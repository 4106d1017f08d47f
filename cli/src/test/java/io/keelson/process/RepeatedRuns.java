package io.keelson.process;

import io.keelson.server.ServerProxy;
import io.keelson.server.app.Server;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Several clients that create and start runs at one server. Each repeats a request under its idempotency key, five times a second,
 * until it is answered. Each run has a name of its own and makes a payment.
 */
final class RepeatedRuns implements AutoCloseable {

    private static final Duration PACE = Duration.ofMillis(200);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int CLIENTS = 3;
    /** Polls, one each {@link #PACE}, until a run must wait for its approval. */
    private static final int MAX_POLLS = 600;

    /**
     * An acknowledged request.
     *
     * @param at by {@link System#nanoTime()}
     */
    private record Acknowledged(String name, String run, boolean started, long at) {}

    private final String prefix;
    private final ServerProxy.Address server;
    private final String apiKey;
    private final UnaryOperator<String> missions;
    private final boolean approves;
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final AtomicInteger count = new AtomicInteger();
    private final Collection<Acknowledged> acknowledged = new ConcurrentLinkedQueue<>();
    private final Collection<String> refusals = new ConcurrentLinkedQueue<>();
    /** Codes of the answers that had a request repeated. */
    private final Set<String> codes = ConcurrentHashMap.newKeySet();
    private final List<Thread> clients = new ArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** @param prefix of the runs' names */
    RepeatedRuns(String prefix, Server server) {
        this(prefix, server::baseUrl, server.apiKey(), RepeatedRuns::mission, false);
    }

    /**
     * Runs by another way and of other missions.
     *
     * @param server asked for each request
     * @param missions the mission of the run with that name
     * @param approves whether each run waits for an approval
     */
    RepeatedRuns(String prefix, ServerProxy.Address server, String apiKey, UnaryOperator<String> missions,
            boolean approves) {
        this.prefix = prefix;
        this.server = server;
        this.apiKey = apiKey;
        this.missions = missions;
        this.approves = approves;
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(Thread.ofVirtual().start(this::submit));
        }
    }

    private void submit() {
        try {
            do {
                String name = prefix + count.incrementAndGet();
                JsonNode run = untilAnswered("/runs", missions.apply(name), name);
                if (run != null) {
                    String id = run.path("id").asString("");
                    acknowledged.add(new Acknowledged(name, id, false, System.nanoTime()));
                    if (untilAnswered("/runs/" + id + "/start", "{}", name + "-start") != null) {
                        acknowledged.add(new Acknowledged(name, id, true, System.nanoTime()));
                    }
                    if (approves) {
                        approve(name, id);
                    }
                }
            } while (!closed.await(PACE.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String mission(String name) {
        return """
                {"name": "%s", "plan": {"tasks": [{"id": "t", "steps": [{"name": "a", "tool": "noop"},
                  {"name": "pay", "tool": "bank.pay", "input": {"of": "%s"}}, {"name": "b", "tool": "noop"}]}]}}"""
                .formatted(name, name);
    }

    /** Approves the run when it waits for that. */
    private void approve(String name, String run) throws InterruptedException {
        for (int i = 0; !isWaiting(run); i++) {
            if (i == MAX_POLLS) {
                refusals.add("approval of " + name + " was not awaited");
                return;
            }
            LockSupport.parkNanos(PACE.toNanos());
        }
        if (untilAnswered("/runs/" + run + "/approve", "{}", name + "-approve") != null) {
            acknowledged.add(new Acknowledged(name, run, true, System.nanoTime()));
        }
    }

    private boolean isWaiting(String run) throws InterruptedException {
        try {
            HttpResponse<byte[]> answer = http.send(request("/runs/" + run + "/steps").GET().build(),
                    BodyHandlers.ofByteArray());
            return answer.statusCode() == 200 && Json.read(answer.body()).path("items").valueStream()
                    .anyMatch(step -> step.path("state").asString("").equals("waiting_approval"));
        } catch (IOException e) {
            return false;
        }
    }

    private HttpRequest.Builder request(String path) throws IOException {
        return HttpRequest.newBuilder(URI.create(server.get() + "/api/v1" + path)).timeout(CALL_TIMEOUT)
                .header("Authorization", "Bearer " + apiKey).header("Content-Type", "application/json");
    }

    /** The answer; null for a refusal. */
    private @Nullable JsonNode untilAnswered(String path, String body, String key) throws InterruptedException {
        while (true) {
            try {
                HttpRequest request = request(path).header("Idempotency-Key", key)
                        .POST(BodyPublishers.ofString(body)).build();
                HttpResponse<byte[]> answer = http.send(request, BodyHandlers.ofByteArray());
                if (answer.statusCode() / 100 == 2) {
                    return Json.read(answer.body());
                }
                String code = Json.read(answer.body()).path("code").asString("");
                if (answer.statusCode() < 500 && answer.statusCode() != 429) {
                    refusals.add(answer.statusCode() + " " + path + " " + Json.read(answer.body()));
                    return null;
                }
                codes.add(answer.statusCode() + " " + code);
            } catch (IOException e) {
                // it is repeated
            }
            LockSupport.parkNanos(PACE.toNanos());
        }
    }

    /** Ids of the runs whose creation was acknowledged, by their names. */
    Map<String, String> created() {
        return acknowledged.stream().collect(Collectors.toMap(Acknowledged::name, Acknowledged::run,
                (one, same) -> one, TreeMap::new));
    }

    /** Runs whose start was acknowledged. */
    Set<String> started() {
        return acknowledged.stream().filter(Acknowledged::started).map(Acknowledged::run)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Statuses and codes of the answers that had a request repeated. */
    Set<String> codes() {
        return new TreeSet<>(codes);
    }

    /** So that {@link #codes} has those of later answers only. */
    void forgetCodes() {
        codes.clear();
    }

    /** Requests that the server refused. */
    List<String> refusals() {
        return List.copyOf(refusals);
    }

    /** Waits for more acknowledged requests. */
    void await(int more) {
        int least = acknowledged.size() + more;
        Awaitility.await().atMost(LIMIT).until(() -> acknowledged.size() >= least);
    }

    /** Waits for the first request that was acknowledged after a moment, and returns the time between. */
    Duration firstAfter(long moment) {
        Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20))
                .until(() -> after(moment) < Long.MAX_VALUE);
        return Duration.ofNanos(after(moment));
    }

    /** The longest time without an acknowledged request between two moments. */
    Duration longestGap(long from, long to) {
        long last = from;
        long longest = 0;
        for (long each : acknowledged.stream().mapToLong(Acknowledged::at).filter(at -> at > from && at < to).sorted()
                .toArray()) {
            longest = Math.max(longest, each - last);
            last = each;
        }
        return Duration.ofNanos(Math.max(longest, to - last));
    }

    private long after(long moment) {
        return acknowledged.stream().mapToLong(each -> each.at() - moment).filter(after -> after > 0).min()
                .orElse(Long.MAX_VALUE);
    }

    /** Ends without an answer to the last requests. */
    void abandon() throws InterruptedException {
        closed.countDown();
        clients.forEach(Thread::interrupt);
        close();
    }

    @Override
    public void close() throws InterruptedException {
        closed.countDown();
        for (Thread client : clients) {
            client.join(LIMIT);
        }
    }
}
