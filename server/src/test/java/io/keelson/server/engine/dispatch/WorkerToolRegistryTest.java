package io.keelson.server.engine.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.tenant.auth.Bootstrap;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class WorkerToolRegistryTest {

    private static final UUID WORKSPACE = Bootstrap.DEFAULT_WORKSPACE;

    @Test
    void aServedToolIsRememberedForSecondsAndANewOneIsKnownAtOnce() {
        try (Database database = TestDatabase.create()) {
            Bootstrap.ensureWorkspace(database);
            WorkerRegistry workers = new WorkerRegistry(DbClock.DATABASE);
            AtomicLong time = new AtomicLong();
            WorkerToolRegistry registry = new WorkerToolRegistry(database, workers, time::get);
            claims(database, workers, "one");
            assertThat(registry.check(WORKSPACE).test("one")).isTrue();

            forgetAll(database);
            time.addAndGet(TimeUnit.SECONDS.toNanos(4));
            assertThat(registry.check(WORKSPACE).test("one")).as("without a query").isTrue();

            time.addAndGet(TimeUnit.SECONDS.toNanos(1));
            assertThat(registry.check(WORKSPACE).test("one")).isFalse();

            claims(database, workers, "two");
            assertThat(registry.check(WORKSPACE).test("two")).isTrue();
        }
    }

    @Test
    void oneCheckReadsTheDatabaseOnce() {
        try (Database database = TestDatabase.create()) {
            Bootstrap.ensureWorkspace(database);
            WorkerRegistry workers = new WorkerRegistry(DbClock.DATABASE);
            WorkerToolRegistry registry = new WorkerToolRegistry(database, workers, System::nanoTime);
            Predicate<String> check = registry.check(WORKSPACE);
            assertThat(check.test("late")).isFalse();

            claims(database, workers, "late");

            assertThat(check.test("late")).isFalse();
            assertThat(registry.check(WORKSPACE).test("late")).isTrue();
        }
    }

    private static void claims(Database database, WorkerRegistry workers, String tool) {
        var _ = database.inTransaction(c -> workers.seen(c, WORKSPACE, "w", List.of(tool), null, 1, null));
    }

    private static void forgetAll(Database database) {
        database.runInTransaction(c -> {
            try (var statement = c.createStatement()) {
                statement.executeUpdate("delete from workers");
            }
        });
    }
}
