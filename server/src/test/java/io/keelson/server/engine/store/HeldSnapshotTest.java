package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.decide.StepRow;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Result;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Search;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Claims and polls while a snapshot stays open, under which no removed row of the queue can be vacuumed. */
@Breadth.InPart(3)
class HeldSnapshotTest extends QueuedWork {
    private static final int ROWS = Breadth.of(20_000, 100_000);
    private static final int BLOCKS_FACTOR = 10;
    private static final int CLAIMS = 20;

    private Connection pool;

    @BeforeEach
    void connect() throws SQLException {
        pool = world.database.dedicatedConnection();
    }

    @Test
    void aClaimReadsAtMostTenTimesTheBlocks() throws Exception {
        try (Connection snapshot = hold(); Connection _ = pool) {
            long before = blocksPerClaim();
            assertThat(before).isPositive();
            write(ROWS);
            long whole = blocks(() -> world.store.due(pool, false));
            assertThat(whole).as("of a poll that knows no floors").isGreaterThan(BLOCKS_FACTOR * before);

            awaitFloors();
            long beside = blocksPerClaim();
            assertThat(beside).as("beside %d removed rows, %d before", ROWS, before)
                    .isLessThanOrEqualTo(BLOCKS_FACTOR * before);
            assertThat(blocks(() -> world.store.due(pool, false))).as("of a poll")
                    .isLessThanOrEqualTo(BLOCKS_FACTOR * before);
            System.out.printf("%d removed rows: %d blocks for a claim before, %d beside, %d for a whole poll%n", ROWS,
                    before, beside, whole);
            snapshot.rollback();
        }
        RunFixtures.execute(world.connection(), "commit");
        try (Connection c = world.database.dedicatedConnection()) {
            RunFixtures.execute(c, "vacuum work_queue");
            Awaitility.await().until(() -> blocks(c, () -> world.store.due(c, false)) < 60);
        }
    }

    /** A worker's search reads the lots of its version from the floors of their queues. */
    @Test
    void aClaimOfAToolWithARuleReadsLittle() throws Exception {
        RunFixtures.execute(world.connection(),
                "insert into tool_versions (workspace_id, tool, current, updated_by) values ('"
                        + world.workspace + "', 'echo', '1', 'test')");
        Search search = new Search(world.workspace, List.of("echo", "other"), 10, new WorkspaceRoundRobin(), "1");
        try (Connection snapshot = hold(); Connection _ = pool) {
            complete(startInLot(100), "worker");
            UUID first = startInLot(100);
            long before = blocks(() -> world.store.candidates(pool, search));
            assertThat(world.store.candidates(pool, search)).extracting(Candidate::runId).containsExactly(first);
            complete(first, "worker");
            write(ROWS);
            long whole = blocks(() -> world.store.candidates(pool, search));
            assertThat(whole).isGreaterThan(BLOCKS_FACTOR * before);
            awaitFloors();
            for (int priority : List.of(100, 50, 100, 50)) {
                UUID run = startInLot(priority);
                long beside = blocks(() -> world.store.candidates(pool, search));
                assertThat(world.store.candidates(pool, search)).extracting(Candidate::runId).containsExactly(run);
                assertThat(beside).as("%d before, %d whole", before, whole)
                        .isLessThanOrEqualTo(BLOCKS_FACTOR * before);
                complete(run, "worker");
                world.store.due(pool, false);
            }
            snapshot.rollback();
        }
    }

    private UUID startInLot(int priority) throws SQLException {
        UUID run = start(world.workspace, priority);
        world.connection().commit();
        world.store.versions().refresh(world.connection());
        world.connection().commit();
        return run;
    }

    private void complete(UUID run, String holder) throws SQLException {
        complete(run, claim(run, holder));
    }

    /** Rows of another node, of a queue and of a time that this node has seen nothing at. */
    @Test
    void rowsBelowAFloorAreFoundSoon() throws Exception {
        try (Connection snapshot = hold(); Connection _ = pool) {
            blocksPerClaim();
            write(ROWS);
            awaitFloors();
            UUID own = start(world.workspace, 100);
            assertThat(search()).as("a row that this node has put").extracting(Candidate::runId).containsExactly(own);
            complete(own, claim(own, "worker"));
            for (String change : List.of("priority = 7", "queued_at = queued_at - interval '1 hour'")) {
                UUID others = start(world.workspace, 100);
                RunFixtures.execute(world.connection(),
                        "update work_queue set " + change + " where run_id = '" + others + "'");
                world.connection().commit();
                assertThat(search()).as("nothing of it is known").isEmpty();
                Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> world.store.due(pool, false).ready());
                assertThat(search()).extracting(Candidate::runId).containsExactly(others);
                complete(others, claim(others, "worker"));
            }
            snapshot.rollback();
        }
    }

    private Connection hold() throws SQLException {
        Connection held = world.database.dedicatedConnection();
        held.setAutoCommit(false);
        held.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        RunFixtures.execute(held, "select count(*) from workspaces");
        return held;
    }

    /** Polls until one reads little. */
    private void awaitFloors() {
        Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(100))
                .until(() -> blocks(() -> world.store.due(pool, false)) < 60);
    }

    /** Queues, finds, claims and completes steps, one after another; the poll belongs to a few claims. */
    private long blocksPerClaim() throws SQLException {
        long sum = 0;
        for (int i = 0; i < CLAIMS; i++) {
            UUID run = start(world.workspace, 100);
            sum += blocks(this::search);
            complete(run, claim(run, "worker"));
            sum += blocks(this::search);
            world.tick(Duration.ofMillis(50));
        }
        return sum / CLAIMS;
    }

    private void complete(UUID run, StepRow step) throws SQLException {
        world.send(new Command.Complete(run, step.id(), step.leaseEpoch(), Result.of("{}"), Actor.agent("worker")));
    }

    private List<Candidate> search() throws SQLException {
        return world.store.candidates(pool, new Search(null, ECHO, 10, new WorkspaceRoundRobin()));
    }

    /** Each row is put into the queue, claimed and removed. */
    private void write(int rows) throws SQLException {
        try (Connection c = world.database.dedicatedConnection()) {
            c.setAutoCommit(false);
            RunFixtures.execute(c, """
                    insert into work_queue (task_id, lane, run_id, workspace_id, tool, priority, queued_at, lot)
                    select gen_random_uuid(), 0, gen_random_uuid(), '%s', (array['echo', 'other'])[1 + n %% 2], 100,
                        '%s'::timestamptz - interval '20 s' - n * interval '1 ms', lpad((n / 2 %% 100)::text, 2, '0')
                      from generate_series(1, %d) n""".formatted(world.workspace, world.now, rows));
            RunFixtures.execute(c, """
                    update work_queue set holder = 'made up', lease_ms = 3000, lease_expires_at = queued_at, deadline_at = queued_at
                     where holder is null""");
            RunFixtures.execute(c, "delete from work_queue where holder = 'made up'");
            c.commit();
        }
    }

    @FunctionalInterface
    private interface Query {
        void run() throws SQLException;
    }

    private long blocks(Query query) throws SQLException {
        return blocks(pool, query);
    }

    /** The blocks of the queue that a query reads, as PostgreSQL counts them. */
    private static long blocks(Connection c, Query query) throws SQLException {
        c.setAutoCommit(false);
        long before = blocks(c);
        query.run();
        long read = blocks(c) - before;
        c.commit();
        return read;
    }

    private static long blocks(Connection c) throws SQLException {
        return Long.parseLong(RunFixtures.query(c, """
                select sum(pg_stat_get_xact_blocks_fetched(oid)) from pg_class
                 where relname = 'work_queue' or relname like 'ix_work_queue%' or relname = 'work_queue_pkey'""")
                .getFirst());
    }
}
