package io.keelson.server.engine.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.tenant.auth.Bootstrap;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DrainingWorkersTest {

    private static final UUID WORKSPACE = Bootstrap.DEFAULT_WORKSPACE;

    @Test
    void aChangeIsKnownAtOnceHereAndWithinASecondElsewhere() {
        try (Database database = TestDatabase.create()) {
            Bootstrap.ensureWorkspace(database);
            WorkerRegistry registry = new WorkerRegistry(DbClock.DATABASE);
            AtomicLong time = new AtomicLong();
            DrainingWorkers here = new DrainingWorkers(database, registry, time::get);
            DrainingWorkers elsewhere = new DrainingWorkers(database, registry, time::get);
            var _ = database.inTransaction(c -> registry.seen(c, WORKSPACE, "w", List.of("t"), null, 1, null));
            assertThat(here.of(WORKSPACE, "w")).isFalse();
            assertThat(elsewhere.of(WORKSPACE, "w")).isFalse();

            boolean known = database.inTransaction(c -> registry.drain(c, WORKSPACE, "w"));
            assertThat(known).isTrue();
            here.changed(WORKSPACE, "w");

            assertThat(here.of(WORKSPACE, "w")).isTrue();
            assertThat(elsewhere.of(WORKSPACE, "w")).isFalse();
            time.addAndGet(DrainingWorkers.REMEMBERED.toNanos());
            assertThat(elsewhere.of(WORKSPACE, "w")).isTrue();
        }
    }

    @Test
    void claimsWithTheSameOfferAreRecordedOnceASecond() {
        try (Database database = TestDatabase.create()) {
            Bootstrap.ensureWorkspace(database);
            AtomicLong time = new AtomicLong();
            DrainingWorkers workers = new DrainingWorkers(database, new WorkerRegistry(DbClock.DATABASE), time::get);
            var offer = new DrainingWorkers.Offer(Set.of("t"), null, null);

            assertThat(workers.claiming(WORKSPACE, "w", offer, 3)).isFalse();
            assertThat(workers.claiming(WORKSPACE, "w", offer, 2)).isFalse();
            assertThat(slots(database)).isEqualTo(3);

            assertThat(workers.claiming(WORKSPACE, "w", new DrainingWorkers.Offer(Set.of("t", "u"), null, null), 2))
                    .isFalse();
            assertThat(slots(database)).as("another offer is recorded at once").isEqualTo(2);

            time.addAndGet(DrainingWorkers.REMEMBERED.toNanos());
            assertThat(workers.claiming(WORKSPACE, "w", offer, 1)).isFalse();
            assertThat(slots(database)).isEqualTo(1);
        }
    }

    private static int slots(Database database) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); var row = statement.executeQuery("select slots from workers")) {
                assertThat(row.next()).isTrue();
                return row.getInt(1);
            }
        });
    }
}
