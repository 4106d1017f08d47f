package io.keelson.process;

import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.server.app.Server;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;

/** Creates runs until it is closed, and keeps the ids of the acknowledged ones. */
final class AcknowledgedRuns implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);

    private final Collection<String> acknowledged = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    AcknowledgedRuns(Keelson... clients) {
        for (Keelson each : clients) {
            add(each);
        }
    }

    /** Creates runs at one more server. */
    void add(Keelson client) {
        threads.add(Thread.ofVirtual().start(() -> create(client)));
    }

    /** A client that does not wait long. */
    static Keelson client(Server server) {
        return Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).timeout(CALL_TIMEOUT)
                .build();
    }

    private void create(Keelson client) {
        while (!closed) {
            try {
                acknowledged.add(client.runs().create(RunRequest.of(mission().toJson()).start()).id());
            } catch (KeelsonException e) {
                closed |= !e.isTransient();
            }
        }
    }

    private static Mission mission() {
        return Mission.named("load").goal("survive").task("a", t -> t.step("one", "noop", Map.of())
                .step("nap", "wait", Map.of("seconds", 0.2)).step("two", "noop", Map.of()));
    }

    /** Waits for more acknowledged runs, and returns all. */
    Set<String> await(int more) {
        int least = acknowledged.size() + more;
        Awaitility.await().atMost(LIMIT).until(() -> acknowledged.size() >= least);
        return new TreeSet<>(acknowledged);
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
