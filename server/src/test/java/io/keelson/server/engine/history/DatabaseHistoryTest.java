package io.keelson.server.engine.history;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.server.TestCredits;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.Nodes;
import io.keelson.server.engine.store.retention.RunDeletion;
import java.nio.file.Path;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Facts by which a database went back, and changes of it that are none. */
class DatabaseHistoryTest {

    /** Its run has several commits. */
    private static final String MISSION = """
            name: short
            plan:
              tasks:
                - {id: a, title: A, chain: false, steps: [{name: one, tool: noop}]}
            """;

    @TempDir
    static Path folder;

    private static Nodes nodes;
    private static Database database;
    private static Engine engine;

    @BeforeAll
    static void start() throws Exception {
        nodes = new Nodes(folder);
        database = nodes.database;
        engine = nodes.node();
    }

    @AfterAll
    static void stop() throws Exception {
        nodes.close();
    }

    static Stream<Arguments> losses() {
        return Stream.of(Arguments.of("an earlier version of the run", 2L,
                "update run_heads set last_seq = 1 where run_id = '{run}'"),
                Arguments.of("an unknown run", 1L, "delete from run_heads where run_id = '{run}'"),
                Arguments.of("another history of the run", 2L, """
                        set session_replication_role = replica;
                        update run_event_packs set created_at = created_at + interval '1 microsecond'
                         where run_id = '{run}' and first_seq > 1;
                        reset session_replication_role"""));
    }

    /** Its engine has ended, so that only this test compares. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("losses")
    void aLossIsRecordedWithItsFirstEvent(String what, long seq, String sql) throws Exception {
        try (Nodes own = new Nodes(folder)) {
            UUID run;
            try (Engine writer = own.node()) {
                run = own.submit(writer, MISSION);
                own.awaitState(run, "completed");
            }
            DatabaseHistory history = new DatabaseHistory(own.database, "node:test", UuidCreator::getTimeOrderedEpoch);
            history.task().close();
            history.eventsFound();
            history.look();
            assertThat(history.loss()).isNull();
            execute(own.database, sql.replace("{run}", run.toString()));
            history.connectionLost();
            history.look();

            DatabaseLoss loss = history.loss();
            assertThat(loss).as(what).isNotNull();
            assertThat(loss.runId()).isEqualTo(run);
            assertThat(loss.seq()).isGreaterThanOrEqualTo(seq);
            assertThat(own.count("select count(*) from database_losses where accepted_at is null and id = '"
                    + loss.id() + "'")).isEqualTo(1);
            execute(own.database, "update database_losses set accepted_at = now(), accepted_by = 'test'");
            own.database.runInTransaction(history::refresh);
            assertThat(history.loss()).as("accepted").isNull();
            history.connectionLost();
            history.look();
            assertThat(history.loss()).as("earlier events are forgotten").isNull();
        }
    }

    @Test
    void aLossThatAnotherServerRecordedStopsThisOne() throws Exception {
        DatabaseHistory history = new DatabaseHistory(database, "node:other", UuidCreator::getTimeOrderedEpoch);
        execute("insert into database_losses (id, found_at, found_by, run_id, seq, event_at, commits, read_after)"
                + " values (gen_random_uuid(), now(), 'node:a', gen_random_uuid(), 3, now(), 1, 0)");
        refresh(history);
        assertThat(history.wentBack()).isTrue();
        execute("update database_losses set accepted_at = now() where accepted_at is null");
        refresh(history);
        assertThat(history.wentBack()).isFalse();
    }

    @Test
    void endedSessionsAreNoLoss() throws Exception {
        completed();
        DatabaseHistory history = known();
        execute("select pg_terminate_backend(pid, 10000) from pg_stat_activity"
                + " where datname = current_database() and pid <> pg_backend_pid()");
        stays(history);
    }

    @Test
    void retentionIsNoLoss() throws Exception {
        UUID run = completed();
        DatabaseHistory history = known();
        assertThat(nodes.count("select keelson_archive_events('" + run + "', 1000)")).isPositive();
        stays(history);
        long last = nodes.count("select last_seq from run_heads where run_id = '" + run + "'");
        execute("select keelson_export_events('" + run + "', 1, " + last + ")");
        stays(history);
        assertThat(nodes.count("select count(*) from orchestration_events_kept where run_id = '" + run + "'"))
                .isZero();
    }

    @Test
    void aDeletedRunIsNoLoss() throws Exception {
        UUID run = completed();
        DatabaseHistory history = known();
        var deleted = database.inTransaction(c -> new RunDeletion(DbClock.DATABASE).delete(c, Nodes.WORKSPACE, run));
        assertThat(deleted).isPresent();
        stays(history);
    }

    @Test
    void aPurgedWorkspaceIsNoLoss() throws Exception {
        UUID workspace = UUID.randomUUID();
        execute("insert into workspaces (id, name) values ('" + workspace + "', 'closed')");
        TestCredits.grant(database, workspace);
        NewRun run = nodes.run(MISSION, workspace);
        engine.submit(new Command.Create(run, true, Nodes.WHO)).join();
        nodes.awaitState(run.id(), "completed");
        DatabaseHistory history = known();
        execute("update workspaces set closed_at = now(), purge_asked_at = now() where id = '" + workspace + "'");
        while (nodes.count("select keelson_purge_workspace('" + workspace + "', 1000)") > 0) {
            // the next portion
        }
        assertThat(nodes.count("select count(*) from run_heads where run_id = '" + run.id() + "'")).isZero();
        stays(history);
    }

    /** Events before and after an outage are compared. */
    @Test
    void anOutageIsNoLoss() throws Exception {
        completed();
        DatabaseHistory history = known();
        for (int i = 0; i < 3; i++) {
            history.database(false);
        }
        completed();
        stays(history);
    }

    private static UUID completed() {
        UUID run = nodes.submit(engine, MISSION);
        nodes.awaitState(run, "completed");
        return run;
    }

    private static DatabaseHistory known() {
        DatabaseHistory history = engine.history();
        history.look();
        assertThat(history.loss()).isNull();
        return history;
    }

    private static void stays(DatabaseHistory history) {
        history.connectionLost();
        history.look();
        assertThat(history.loss()).isNull();
        assertThat(nodes.count("select count(*) from database_losses where accepted_at is null")).isZero();
    }

    private static void refresh(DatabaseHistory history) {
        database.runInTransaction(history::refresh);
    }

    private static void execute(String sql) {
        execute(database, sql);
    }

    private static void execute(Database on, String sql) {
        on.runInTransaction(c -> {
            try (var statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }
}
