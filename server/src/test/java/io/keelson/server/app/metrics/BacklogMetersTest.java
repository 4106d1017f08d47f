package io.keelson.server.app.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.queue.Backlog;
import io.keelson.server.outlet.webhook.Deliveries;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class BacklogMetersTest {

    private static final DatabaseGauges SOME = new DatabaseGauges(
            new Backlog(7, 2, 0, 12.5, Map.of("running", 3L), Map.of("running", 60.0), 45, Map.of("escalation", 1L),
                    Map.of("escalation", 90.0), 1, 4, 2, 0, 10),
            new Deliveries.Waiting(5, 30.5, 1));

    private static final Duration LONG = Duration.ofMinutes(1);

    @Test
    void theDatabaseIsAskedAtMostEveryFiveSeconds() {
        AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
        AtomicInteger asked = new AtomicInteger();
        Meters meters = new Meters();
        BacklogMeters backlog = new BacklogMeters(meters, () -> {
            asked.incrementAndGet();
            return SOME;
        }, nanos::get, LONG);

        backlog.look();
        nanos.addAndGet(Duration.ofMillis(4_999).toNanos());
        backlog.look();
        assertThat(asked).hasValue(1);
        nanos.addAndGet(Duration.ofMillis(1).toNanos());
        backlog.look();

        assertThat(asked).hasValue(2);
        assertThat(meters.page("text/plain")).contains("keelson_queue_waiting 7.0", "keelson_queue_oldest_seconds 12.5",
                "keelson_runs_open{state=\"running\"} 3.0", "keelson_runs_open{state=\"paused\"} 0.0",
                "keelson_inbox_items{kind=\"escalation\"} 1.0",
                "keelson_inbox_oldest_seconds{kind=\"escalation\"} 90.0", "keelson_inbox_items{kind=\"budget\"} 0.0",
                "keelson_webhook_pending 5.0", "keelson_webhook_oldest_seconds 30.5", "keelson_webhooks_failing 1.0");
    }

    @Test
    void metersDoNotWaitForAStalledDatabase() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        Meters meters = new Meters();
        AtomicLong nanos = new AtomicLong();
        BacklogMeters backlog = new BacklogMeters(meters, () -> {
            asked.countDown();
            try {
                answer.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return SOME;
        }, nanos::get, Duration.ofMillis(20));

        backlog.look();
        asked.await();
        assertThat(meters.page("text/plain")).contains("keelson_backlog_up 0.0", "keelson_queue_waiting NaN");
        answer.countDown();

        Awaitility.await().until(() -> meters.page("text/plain").contains("keelson_queue_waiting 7.0"));
    }

    @Test
    void unavailableGaugeIsOmitted() {
        AtomicLong nanos = new AtomicLong();
        Deque<DatabaseGauges> answers = new ArrayDeque<>(List.of(SOME));
        Meters meters = new Meters();
        BacklogMeters backlog = new BacklogMeters(meters, answers::pop, nanos::get, LONG);
        backlog.look();
        assertThat(meters.page("text/plain")).contains("keelson_backlog_up 1.0");

        nanos.addAndGet(Duration.ofSeconds(5).toNanos());
        backlog.look();

        assertThat(meters.page("text/plain")).contains("keelson_backlog_up 0.0", "keelson_queue_waiting NaN");
    }

    @Test
    void theOldestIsFoundAmongAllWorkspacesToolsAndPriorities() {
        Instant now = Instant.parse("2026-11-21T12:00:00Z");
        try (Database database = TestDatabase.create()) {
            Backlog read = database.withConnection(c -> {
                try (Statement statement = c.createStatement()) {
                    statement.execute("""
                            insert into work_queue (task_id, lane, run_id, workspace_id, tool, priority, queued_at, holder,
                                lease_ms, lease_expires_at)
                            select gen_random_uuid(), 0, gen_random_uuid(), w, tool, priority,
                                timestamptz '2026-11-21T12:00:00Z' - age * interval '1 second', holder,
                                case when holder is not null then 1000 end,
                                case when holder is not null then timestamptz '2026-11-21T13:00:00Z' end
                              from (values ('00000000-0000-0000-0000-00000000000a'::uuid, 'a', 1, 5, null),
                                ('00000000-0000-0000-0000-00000000000a', 'a', 1, 9, null),
                                ('00000000-0000-0000-0000-00000000000a', 'b', 2, 70, null),
                                ('00000000-0000-0000-0000-00000000000b', 'a', 3, 40, null),
                                ('00000000-0000-0000-0000-00000000000b', 'a', 3, 400, 'node:x'))
                                as v (w, tool, priority, age, holder)""");
                }
                return Backlog.read(c, () -> now);
            });

            assertThat(read.waiting()).isEqualTo(4);
            assertThat(read.leased()).isEqualTo(1);
            assertThat(read.oldestSeconds()).isEqualTo(70);
        }
    }
}
