package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.server.base.db.Database;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.awaitility.Awaitility;

/**
 * Submits runs at a steady rate, or as fast as a slow machine accepts them, and keeps a journal of the responses.
 */
final class Load implements AutoCloseable {
    private static final int PER_SECOND = 10;
    private static final int MAX_UNANSWERED = 16;

    private enum Submission {
        /** The server accepted the run. */
        YES,
        /** The server refused the run. */
        NO,
        /** No response, or one that leaves it open. */
        UNKNOWN
    }

    private final IntFunction<Keelson> clients;
    private final Function<String, Mission> missions;
    private final Map<String, Submission> journal = new ConcurrentHashMap<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore unanswered = new Semaphore(MAX_UNANSWERED);
    private int asked;

    /**
     * @param clients the client for the n-th run
     * @param missions the mission of the run with that name
     */
    Load(IntFunction<Keelson> clients, Function<String, Mission> missions) {
        this.clients = clients;
        this.missions = missions;
        clock.scheduleAtFixedRate(this::ask, 0, 1_000 / PER_SECOND, TimeUnit.MILLISECONDS);
    }

    private void ask() {
        if (!unanswered.tryAcquire()) {
            return;
        }
        int number = asked++;
        String name = "load-" + number;
        journal.put(name, Submission.UNKNOWN);
        callers.execute(() -> journal.put(name, create(number, name)));
    }

    private Submission create(int number, String name) {
        try {
            clients.apply(number).runs().create(RunRequest.of(missions.apply(name).toJson()).start());
            return Submission.YES;
        } catch (KeelsonException e) {
            return e.status() >= 400 && e.status() < 500 ? Submission.NO : Submission.UNKNOWN;
        } finally {
            unanswered.release();
        }
    }

    /** Stops and waits until every request is answered or abandoned. */
    void stop() throws InterruptedException {
        clock.shutdownNow();
        callers.shutdown();
        assertThat(callers.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }

    /** Accepted runs exist once, those without a response at most once, and all of them end. */
    String assertKept(Database database) {
        Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(100)).untilAsserted(
                () -> assertThat(counts(database, "state <> 'completed'")).isEmpty());
        Map<String, Integer> there = counts(database, "true");
        journal.forEach((name, submission) -> {
            int found = there.getOrDefault(name, 0);
            switch (submission) {
                case YES -> assertThat(found).as("I6: %s was answered", name).isEqualTo(1);
                case NO -> assertThat(found).as("I6: %s was refused", name).isZero();
                case UNKNOWN -> assertThat(found).as("I6: %s is unknown", name).isBetween(0, 1);
            }
        });
        return String.format("%d runs asked for, %d answered, %d exist", journal.size(),
                journal.values().stream().filter(Submission.YES::equals).count(), there.size());
    }

    private static Map<String, Integer> counts(Database database, String where) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement();
                    ResultSet row = statement.executeQuery("select title, count(*) from orchestration_runs where "
                            + where + " group by title")) {
                Map<String, Integer> found = new HashMap<>();
                while (row.next()) {
                    found.put(row.getString(1), row.getInt(2));
                }
                return found;
            }
        });
    }

    @Override
    public void close() {
        clock.shutdownNow();
        callers.shutdownNow();
    }
}
