package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.history.DatabaseHistory;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Events that arrive while the database stores no others. */
class EventIntakeTest {

    private static final UUID OTHER = UUID.randomUUID();

    @Test
    void waitingRequestsAreBounded() throws Exception {
        try (Database database = TestDatabase.create();
                ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor()) {
            EventIntake intake = new EventIntake(database, new DeliveryStore(database), UUID::randomUUID, () -> {
            }, new DatabaseHistory(database, "node:test", UUID::randomUUID), _ -> {
            }, new DecisionPace(), new IntakeQueue.Bounds(4, 1000));
            UUID trigger = TestTriggers.insert(database, UUID.randomUUID());
            List<Future<List<EventIntake.Received>>> sent = database.inTransaction(c -> {
                try (var statement = c.createStatement()) {
                    statement.execute("lock table trigger_deliveries in exclusive mode");
                }
                var first = senders.submit(() -> accepted(intake, trigger, "1"));
                Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5))
                        .until(() -> TestTriggers.count(database,
                                "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                        + " and datname = current_database()") == 1);
                var second = senders.submit(() -> accepted(intake, trigger, "2"));
                var third = senders.submit(() -> accepted(intake, trigger, "3"));
                Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5))
                        .until(() -> intake.waiting() == 2);

                ApiProblem refused =
                        catchThrowableOfType(ApiProblem.class, () -> accepted(intake, trigger, "4"));

                assertThat(refused.code()).isEqualTo("OVERLOADED");
                assertThat(refused.answer().headers()).containsEntry("Retry-After", "1");
                var foreign = senders.submit(() -> intake.accept(OTHER,
                        List.of(new EventIntake.Incoming(trigger, new Event("5", "{}", "{}")))));
                return List.of(first, second, third, foreign);
            });

            for (Future<List<EventIntake.Received>> each : sent) {
                assertThat(each.get()).hasSize(1);
            }
            assertThat(TestTriggers.count(database, "select count(*) from trigger_deliveries")).isEqualTo(4);
            assertThat(accepted(intake, trigger, "4")).hasSize(1);
        }
    }

    private static List<EventIntake.Received> accepted(EventIntake intake, UUID trigger, String key) {
        return intake.accept(trigger, List.of(new EventIntake.Incoming(trigger, new Event(key, "{}", "{}"))));
    }
}
