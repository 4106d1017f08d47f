package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Runs of one chain, more of them than a server has slots, so that most are queued. Keeps the ids of the acknowledged ones. */
final class QueuedRuns {
    /** The steps of a run. */
    static final int STEPS = 4;
    private static final int ADDITIONS = 2_000;

    private final List<Thread> calls = new ArrayList<>();
    private final Collection<String> acknowledged = new ConcurrentLinkedQueue<>();
    private final Collection<KeelsonException> refused = new ConcurrentLinkedQueue<>();

    /** Begins to create so many runs, without a wait for their ends. A killed server leaves runs unacknowledged. */
    void create(Keelson client, int count) {
        RunRequest request = RunRequest.of(mission().toJson()).start();
        for (int i = 0; i < count; i++) {
            calls.add(Thread.ofVirtual().start(() -> {
                try {
                    acknowledged.add(client.runs().create(request).id());
                } catch (KeelsonException e) {
                    refused.addAll(e.isTransient() ? List.of() : List.of(e));
                }
            }));
        }
    }

    /** The acknowledged runs, once all calls have ended. */
    List<String> ids() throws InterruptedException {
        for (Thread call : calls) {
            call.join();
        }
        assertThat(refused).isEmpty();
        return List.copyOf(acknowledged);
    }

    private static Mission mission() {
        return Mission.named("queued").goal("survive").task("a", t -> {
            t.step("s0", "noop", Map.of("output", 0, "cost", 0.01));
            for (int s = 1; s < STEPS; s++) {
                t.step("s" + s, "json.transform",
                        Map.of("expression", "reduce range(" + ADDITIONS + ") as $i (.; . + 1)", "input",
                                "${ .steps.s" + (s - 1) + ".output }"));
            }
            return t;
        });
    }

    /** Whether one commit behind the run's creation claimed the run and recorded its end. */
    static boolean isOfOneCommit(List<Event> events) {
        Map<String, Instant> times = new HashMap<>();
        events.forEach(each -> times.putIfAbsent(each.eventType(), each.createdAt()));
        Instant claimed = times.get("step_started");
        return claimed != null && claimed.equals(times.get("run_completed"))
                && Duration.between(events.getFirst().createdAt(), claimed).isPositive();
    }
}
