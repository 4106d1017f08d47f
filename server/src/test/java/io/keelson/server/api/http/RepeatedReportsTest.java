package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A worker gets some work twice, for its lease has run out, and says of each
 * piece one to five times what came of it, in any order and at the same time.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class RepeatedReportsTest {
    private static final int RUNS = Breadth.of(20, 2_000);
    private static final int STEPS = 6;
    private static final int AT_ONCE = 8;
    private static final long SEED = Long.getLong("keelson.report.seed", 1);

    private final Random random = new Random(SEED);
    /** External effects, once per key. */
    private final Set<String> effects = ConcurrentHashMap.newKeySet();
    private final Map<String, Integer> answers = Collections.synchronizedMap(new TreeMap<>());
    private final List<Callable<Boolean>> unsent = new ArrayList<>();
    /** Reports that are sent only after the step was assigned again. */
    private final Map<String, List<Callable<Boolean>>> kept = new HashMap<>();
    private int again;

    @Test
    void everyStepHasOneResult(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_LEASE_SECONDS", "1"));
                ExecutorService senders = Executors.newFixedThreadPool(AT_ONCE)) {
            claim(api);
            List<String> runs = new ArrayList<>();
            for (int i = 0; i < RUNS; i++) {
                runs.add(api.create(mission()));
            }
            while (open(api) > 0) {
                List<JsonNode> items = claim(api);
                items.forEach(item -> prepare(api, item));
                send(senders);
            }
            runs.forEach(run -> api.awaitState(run, "completed"));
            Invariants.hold(api.database());
            assertThat(count(api, "select count(*) from work_results")).isEqualTo((long) RUNS * STEPS)
                    .isEqualTo(effects.size());
            System.out.printf("repeated reports: %d steps, %d of them delivered again, answers %s%n", RUNS * STEPS,
                    again, answers);
            assertThat(again).isGreaterThan(RUNS / 2);
            assertThat(answers.keySet()).contains("ok", "duplicate", "stale_lease").isSubsetOf("ok", "duplicate",
                    "stale_lease");
        }
    }

    private void prepare(ApiServer api, JsonNode item) {
        String line = "{\"worker_id\": \"w\", \"items\": [{\"step_id\": \"" + item.get("step_id").stringValue()
                + "\", \"lease_epoch\": " + item.get("lease_epoch").intValue() + ", \"output\": 1}]}";
        Callable<Boolean> report = () -> {
            ApiServer.Answer answer = api.post("/api/v1/dispatch/complete", line);
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            String status = answer.json().get("items").get(0).get("status").stringValue();
            answers.merge(status, 1, Integer::sum);
            return status.equals("ok") && !effects.add(item.get("effect_key").stringValue());
        };
        String step = item.get("step_id").stringValue();
        List<Callable<Boolean>> earlier = kept.remove(step);
        boolean keep = earlier == null && random.nextInt(6) == 0;
        List<Callable<Boolean>> to = keep ? kept.computeIfAbsent(step, id -> new ArrayList<>()) : unsent;
        to.addAll(Collections.nCopies(1 + random.nextInt(5), report));
        if (earlier != null) {
            again++;
            unsent.addAll(earlier);
        }
    }

    /** A part of what is to be said, in any order; the rest comes later. */
    private void send(ExecutorService senders) throws Exception {
        Collections.shuffle(unsent, random);
        List<Callable<Boolean>> now = unsent.subList(0, unsent.size() * 2 / 3 + Math.min(1, unsent.size()));
        for (Future<Boolean> twice : senders.invokeAll(now)) {
            assertThat(twice.get()).as("an effect that was accepted twice, seed %s", SEED).isFalse();
        }
        now.clear();
    }

    private static List<JsonNode> claim(ApiServer api) {
        ApiServer.Answer answer = api.post("/api/v1/dispatch/claim",
                "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"max\": 20, \"wait_ms\": 300}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().toList();
    }

    private static String mission() {
        StringBuilder tasks = new StringBuilder();
        for (int i = 0; i < STEPS; i++) {
            tasks.append(i == 0 ? "" : ", ").append("{\"id\": \"t").append(i).append("\", \"title\": \"T\", ")
                    .append(i < 3 ? "" : "\"depends_on\": [\"t" + (i - 3) + "\"], ")
                    .append("\"steps\": [{\"name\": \"work\", \"tool\": \"test.remote\"}]}");
        }
        return "{\"name\": \"remote\", \"start\": true, \"plan\": {\"tasks\": [" + tasks + "]}}";
    }

    private static long open(ApiServer api) {
        return count(api, "select count(*) from orchestration_runs where state_type <> 'terminal'");
    }

    private static long count(ApiServer api, String sql) {
        return api.database().withConnection(c -> {
            try (var statement = c.createStatement(); var row = statement.executeQuery(sql)) {
                row.next();
                return row.getLong(1);
            }
        });
    }
}
