package io.keelson.client.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Json;
import io.keelson.client.http.ScriptedServer;
import io.keelson.client.http.ScriptedServer.Answer;
import io.keelson.client.http.ScriptedServer.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The server's side of {@code /dispatch}, over real HTTP: hands out what a test offers and notes what comes back. */
public final class DispatchPeer implements AutoCloseable {

    /** Ids of steps. */
    public static final String S1 = id(1);
    static final String S2 = id(2);
    static final String S3 = id(3);
    static final String S4 = id(4);
    static final String RUN = id(100);
    static final String TASK = id(101);

    private static final long TIMEOUT_SECONDS = 20;

    /** An item of a report, and the route it came by. */
    public record Reported(String kind, JsonNode item) {

        public String stepId() {
            return item.path("step_id").asString();
        }
    }

    final ScriptedServer server;
    private final BlockingQueue<ObjectNode> offers = new LinkedBlockingQueue<>();
    private final BlockingQueue<Reported> reports = new LinkedBlockingQueue<>();
    private final BlockingQueue<Answer> interventions = new LinkedBlockingQueue<>();
    private final Map<String, JsonNode> verdicts = new ConcurrentHashMap<>();

    public DispatchPeer() {
        this(new ScriptedServer());
    }

    DispatchPeer(ScriptedServer server) {
        this.server = server.on("POST /api/v1/dispatch/claim", this::claim);
        for (String kind : List.of("heartbeat", "complete", "fail", "continue", "release")) {
            server.on("POST /api/v1/dispatch/" + kind, request -> report(kind, request));
        }
    }

    /** The id with a number. */
    static String id(int number) {
        return new UUID(0, number).toString();
    }

    /** Makes a step ready; {@code members} override the usual ones. */
    public DispatchPeer offer(String stepId, Map<String, ?> members) {
        ObjectNode item = Json.object().put("step_id", stepId).put("run_id", RUN).put("task_id", TASK)
                .put("tool", "work").put("attempt", 1).put("lease_epoch", 7)
                .put("lease_expires_at", "2026-01-02T03:04:35.000Z").put("deadline", "2026-01-02T03:05:05.000Z")
                .put("effect_key", "e-" + stepId);
        item.setAll((ObjectNode) Json.of(members));
        offers.add(item);
        return this;
    }

    DispatchPeer offer(String stepId) {
        return offer(stepId, Map.of());
    }

    /** What every later item about the step is answered. */
    DispatchPeer answer(String stepId, Map<String, ?> answer) {
        verdicts.put(stepId, Json.of(answer));
        return this;
    }

    /** What the next report is answered as a whole, after it was noted. Heartbeats are not concerned. */
    DispatchPeer intervene(Answer... answers) {
        interventions.addAll(List.of(answers));
        return this;
    }

    /** The next report that is no heartbeat. */
    public Reported next() throws InterruptedException {
        return next(reported -> !reported.kind().equals("heartbeat"));
    }

    /** The next report that fits; those before it are forgotten. */
    public Reported next(Predicate<Reported> wanted) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (true) {
            Reported reported = reports.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            assertThat(reported).as("a report that fits").isNotNull();
            if (wanted.test(reported)) {
                return reported;
            }
        }
    }

    /** All that was reported and not looked at yet. */
    List<Reported> rest() {
        List<Reported> rest = new ArrayList<>();
        reports.drainTo(rest);
        return rest;
    }

    public String url() {
        return server.url();
    }

    List<Request> claims() {
        return server.requests("POST /api/v1/dispatch/claim");
    }

    @Override
    public void close() {
        server.close();
    }

    private Answer claim(Request request) throws InterruptedException {
        List<ObjectNode> items = new ArrayList<>();
        ObjectNode first = offers.poll(request.body().path("wait_ms").asLong(), TimeUnit.MILLISECONDS);
        if (first != null) {
            items.add(first);
            offers.drainTo(items, request.body().path("max").asInt() - 1);
        }
        return items(items);
    }

    private Answer report(String kind, Request request) {
        List<JsonNode> items = new ArrayList<>(request.body().path("items").values());
        items.forEach(item -> reports.add(new Reported(kind, item)));
        Answer intervention = kind.equals("heartbeat") ? null : interventions.poll();
        return intervention == null ? items(items.stream().map(this::verdict).toList()) : intervention;
    }

    private JsonNode verdict(JsonNode item) {
        String stepId = item.path("step_id").asString();
        ObjectNode answer = Json.object().put("step_id", stepId).put("status", "ok");
        JsonNode verdict = verdicts.get(stepId);
        return verdict == null ? answer : answer.setAll((ObjectNode) verdict);
    }

    private static Answer items(List<? extends JsonNode> items) {
        return Answer.json(Json.of(Map.of("items", items)).toString());
    }
}
