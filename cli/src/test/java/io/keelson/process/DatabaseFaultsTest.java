package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.FaultyLink;
import io.keelson.server.Lapse;
import io.keelson.server.annex.postgres.FaultyPostgres;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.CountingProxy.Loss;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two servers under load, on a PostgreSQL that ends at once and starts again, is slow to commit, or has a transaction that stays open. */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class DatabaseFaultsTest {

    private static final int TRIES = Integer.getInteger("keelson.faults", Breadth.of(1, 10));
    private static final Duration SLOW = Duration.ofSeconds(Integer.getInteger("keelson.slow.seconds", 20));
    private static final Duration OPEN = Duration.ofMinutes(Integer.getInteger("keelson.open.minutes", 1));
    private static final Duration PAUSE = Duration.ofSeconds(10);
    /** Maximum gap between acknowledged requests of a server while another server is frozen with locks. */
    private static final Duration STALL = Duration.ofSeconds(35);
    private static final Duration FROZEN = Duration.ofSeconds(40);
    private static final int BLOCKS_FACTOR = 10;
    private static final int RUNS_A_SECOND = 20;
    private static final int AT_ONCE = 10;
    /** Longer than a server takes to notice that its searches read removed rows. */
    private static final Duration SEEN = Duration.ofSeconds(10);
    /** Longer than PostgreSQL takes to report a session's statistics. */
    private static final Duration STATISTICS = Duration.ofSeconds(2);
    private static final String BLOCKS = """
            select (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::text
              from pg_statio_user_tables where relname = 'work_queue'""";
    private static final String VERSIONS = """
            select (n_tup_ins + n_tup_upd + n_tup_del)::text from pg_stat_user_tables where relname = 'work_queue'""";

    @TempDir
    private Path folder;

    /** As by {@code pg_ctl stop -m immediate}. */
    @Test
    @Breadth.InPart(5)
    void postgresEndsAtOnceAndStartsAgain() throws Exception {
        try (FaultyPostgres postgres = FaultyPostgres.start(folder.resolve("postgres"), Map.of());
                FaultyLink link = new FaultyLink(postgres::address); FaultTrials trials = new FaultTrials();
                Server first = server("first", trials, postgres.text(link.authority()));
                Server second = server("second", trials, postgres.text(link.authority()))) {
            trials.load("first-", first::baseUrl, first.apiKey());
            trials.load("second-", second::baseUrl, second.apiKey());
            for (int i = 0; i < TRIES; i++) {
                trials.run("database: ended at once and started again", () -> {
                    postgres.end();
                    postgres.begin();
                    return System.nanoTime();
                });
            }
            try (Database database = new Database(postgres.url(), DatabaseOptions.DEFAULTS.withPoolSize(2))) {
                trials.end(database, PAUSE);
            }
        }
    }

    /** PostgreSQL waits for 100 ms before each flush of its log. */
    @Test
    void commitsAreSlow() throws Exception {
        Assumptions.assumeTrue(Breadth.all(), "with ./check --all");
        try (FaultyPostgres postgres = FaultyPostgres.start(folder.resolve("postgres"), Map.of("fsync", "on"));
                FaultTrials trials = new FaultTrials();
                Server first = server("first", trials, postgres.text(postgres.url().hosts()));
                Server second = server("second", trials, postgres.text(postgres.url().hosts()))) {
            trials.load("first-", first::baseUrl, first.apiKey());
            trials.load("second-", second::baseUrl, second.apiKey());
            for (int i = 0; i < TRIES; i++) {
                trials.run("database: 100 ms more for each commit", () -> {
                    set(postgres.url(), "commit_delay", "100000");
                    set(postgres.url(), "commit_siblings", "0");
                    Lapse.of(SLOW);
                    set(postgres.url(), "commit_delay", "0");
                    return System.nanoTime();
                });
            }
            try (Database database = new Database(postgres.url(), DatabaseOptions.DEFAULTS.withPoolSize(2))) {
                trials.end(database, PAUSE);
            }
        }
    }

    /** A server is stopped by SIGSTOP during a transaction that has locked rows. The other one is not held up by it. */
    @Test
    void aServerIsFrozenWithLocks() throws Exception {
        Assumptions.assumeTrue(Breadth.all(), "with ./check --all");
        DatabaseUrl url = TestDatabase.createUrl();
        try (CountingProxy proxy = new CountingProxy(url); FaultTrials trials = new FaultTrials();
                ServerProcess frozen = ServerProcess.start(folder.resolve("frozen"), trials.settings(
                        Map.of("KEELSON_DATABASE_URL", TestDatabase.text(proxy.url()))));
                Server other = server("other", trials, TestDatabase.text(url));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            trials.load("frozen-", frozen::url, Files.readString(folder.resolve("frozen/api-key")).strip());
            RepeatedRuns others = trials.load("other-", other::baseUrl, other.apiKey());
            for (int i = 0; i < TRIES; i++) {
                int past = i;
                trials.run("server: frozen with locks, over the limits of transactions", () -> {
                    CountDownLatch thawed = new CountDownLatch(1);
                    CountDownLatch stopped = new CountDownLatch(1);
                    proxy.lose(Loss.REQUEST, new Write("run_heads", ""), past, () -> {
                        signal("-STOP", frozen);
                        stopped.countDown();
                        awaitUninterruptibly(thawed);
                    });
                    stopped.await();
                    long begun = System.nanoTime();
                    Lapse.of(FROZEN);
                    Duration gap = others.longestGap(begun, System.nanoTime());
                    signal("-CONT", frozen);
                    long end = System.nanoTime();
                    thawed.countDown();
                    System.out.printf("fault: others stalled for at most %d ms%n", gap.toMillis());
                    assertThat(gap).isLessThan(STALL);
                    return end;
                });
            }
            trials.end(database, PAUSE);
        }
    }

    /**
     * Rows that were removed from the queue stay while a snapshot is open, and claims read a growing part of them. After a minute under
     * load, the row versions of the rest of half an hour at 20 runs a second are written at once, as many as a run of the load has.
     */
    @Test
    void aSnapshotStaysOpen() throws Exception {
        Assumptions.assumeTrue(Breadth.all(), "with ./check --all");
        try (FaultyPostgres postgres = FaultyPostgres.start(folder.resolve("postgres"), Map.of());
                FaultTrials trials = new FaultTrials();
                Server server = server("one", trials, postgres.text(postgres.url().hosts()));
                Database database = new Database(postgres.url(), DatabaseOptions.DEFAULTS.withPoolSize(2));
                Connection open = postgres.url().connect()) {
            RepeatedRuns load = trials.load("one-", server::baseUrl, server.apiKey());
            load.await(60);
            List<Double> blocks = new ArrayList<>(List.of(perRun(database, load, BLOCKS)));
            List<Double> head = new ArrayList<>(List.of(headMillis(postgres.url())));
            long versions = Math.round(perRun(database, load, VERSIONS));
            open.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            open.setAutoCommit(false);
            trials.run("database: a snapshot stays open for %d minutes".formatted(OPEN.toMinutes()), () -> {
                try (Statement statement = open.createStatement()) {
                    statement.execute("select count(*) from orchestration_runs");
                }
                Lapse.of(OPEN);
                return System.nanoTime();
            });
            blocks.add(perRun(database, load, BLOCKS));
            head.add(headMillis(postgres.url()));
            for (int minutes : List.of(4, 5, 20)) {
                trials.run("database: a snapshot stays open, rows of %d more minutes".formatted(minutes), () -> {
                    write(postgres.url(), versions * minutes * 60 * RUNS_A_SECOND / 3, minutes);
                    return System.nanoTime();
                });
                Lapse.of(SEEN);
                blocks.add(perRun(database, load, BLOCKS));
                head.add(headMillis(postgres.url()));
            }
            open.rollback();
            try (Connection vacuum = postgres.url().connect(); Statement statement = vacuum.createStatement()) {
                statement.execute("vacuum work_queue");
            }
            blocks.add(perRun(database, load, BLOCKS));
            head.add(headMillis(postgres.url()));
            System.out.printf(
                    "fault: %d row versions for each run; before, after 1, 5, 10 and 30 minutes, and after the end:"
                            + " blocks of the queue for each run %s, milliseconds to its head %s%n",
                    versions, blocks, head);
            assertThat(blocks).allSatisfy(each -> assertThat(each).isLessThan(BLOCKS_FACTOR * blocks.getFirst()));
            trials.end(database, PAUSE);
        }
    }

    /** A sum over the queue for each of the next runs. */
    private static double perRun(Database database, RepeatedRuns load, String sum) throws Exception {
        Lapse.of(STATISTICS);
        long before = number(database, sum);
        int runs = load.created().size();
        load.await(90);
        Lapse.of(STATISTICS);
        return (double) (number(database, sum) - before) / (load.created().size() - runs);
    }

    /** The time of a search for the head of the queue from its beginning; the best of some. */
    private static double headMillis(DatabaseUrl url) throws Exception {
        double best = Double.MAX_VALUE;
        // The end of a session reports its statistics.
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            for (int i = 0; i < 5; i++) {
                long begin = System.nanoTime();
                statement.execute("select task_id from work_queue where holder is null"
                        + " order by workspace_id, tool, model, priority limit 1");
                best = Math.min(best, (System.nanoTime() - begin) / 1e6);
            }
        }
        return best;
    }

    private static long number(Database database, String sql) {
        return Long.parseLong(FaultTrials.read(database, sql).iterator().next());
    }

    /** Rows are put into the queue, claimed and removed, some at a time, in the last minutes: three versions, of which no server sees one. */
    private static void write(DatabaseUrl url, long rows, int minutes) throws Exception {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute("""
                    do $$
                    declare
                        run uuid;
                        workspace uuid := (select id from workspaces limit 1);
                        level integer := (select priority from orchestration_runs limit 1);
                    begin
                        for i in reverse %d .. 0 loop
                            run := gen_random_uuid();
                            insert into work_queue (task_id, lane, run_id, workspace_id, tool, priority, queued_at)
                            select gen_random_uuid(), 0, run, workspace, (array['noop', 'bank.pay', 'bank.transfer'])[1 + n %% 3],
                                level, clock_timestamp() - i * interval '1 minute' * %d / %d
                              from generate_series(1, %d) n;
                            update work_queue set holder = 'made up', lease_ms = 3000, lease_expires_at =
                                queued_at + interval '3 s' where run_id = run;
                            delete from work_queue where run_id = run;
                        end loop;
                    end $$""".formatted(rows / AT_ONCE, minutes, rows / AT_ONCE, AT_ONCE));
        }
    }

    private static void set(DatabaseUrl url, String name, String value) throws Exception {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            statement.execute("alter system set " + name + " = " + value);
            statement.execute("select pg_reload_conf()");
        }
    }

    private static void signal(String signal, ServerProcess to) {
        try {
            assertThat(new ProcessBuilder("kill", signal, Long.toString(to.pid())).start().waitFor()).isZero();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Server server(String name, FaultTrials trials, String databaseUrl) throws Exception {
        Path data = folder.resolve(name);
        Map<String, String> all = new HashMap<>(trials.settings(Map.of("KEELSON_DATABASE_URL", databaseUrl)));
        all.putAll(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0"));
        return Server.start(Settings.load(all, data, data));
    }
}
