package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.StepRow;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.server.engine.store.RunStore.Due;
import io.keelson.server.engine.store.RunStore.Expired;
import io.keelson.server.engine.store.RunStore.Place;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.RunStore.Sweep;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What may be claimed, what is overdue, and that both are found by index. */
class DueWorkTest extends QueuedWork {

    @Test
    void aClaimedLaneIsNoCandidateAndExpiresUnderItsEpoch() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        assertThat(candidates(10)).isEmpty();

        world.tick(LEASE);
        assertThat(expired()).isEmpty();
        world.tick(Duration.ofMillis(1));
        assertThat(expired())
                .containsExactly(new Expired(run, step.task().id(), 0, step.id(), 1, LEASE, true, false, null));

        expire(expired().getFirst());
        assertThat(candidates(10)).hasSize(1);
        assertThat(expired()).isEmpty();
    }

    @Test
    void onePollFindsAllDueWork() throws SQLException {
        assertThat(due()).isEqualTo(new Due(false, false, false, false, false, false, false, false, false, null, null));
        UUID run = start(world.workspace, 100);
        assertThat(due()).isEqualTo(new Due(true, false, false, false, false, false, false, true, false, null, null));
        StepRow step = claim(run, "worker");
        world.tick(Duration.ofSeconds(20));
        assertThat(due())
                .isEqualTo(
                        new Due(false, false, false, false, false, false, false, true, false, Duration.ofSeconds(10),
                                null));
        world.tick(Duration.ofMillis(10_001));
        assertThat(due()).isEqualTo(new Due(false, true, false, false, false, false, false, true, false, null, null));

        beat(step, "worker", 1);
        world.tick(Duration.ofSeconds(6));
        assertThat(due()).as("past its deadline and the grace")
                .isEqualTo(
                        new Due(false, true, false, false, false, false, false, true, false, Duration.ofSeconds(24),
                                null));
        world.send(new Command.Fail(run, step.id(), 1, new StepError("BROKE", ErrorClass.INFRASTRUCTURE, "broke"),
                Result.of("null"), Actor.agent("worker")));
        world.tick(Duration.ofSeconds(1));
        assertThat(due()).isEqualTo(new Due(false, false, true, false, false, false, false, true, false, null, null));
    }

    @Test
    void timersComeDueInOrderAndStuckRunsAreFound() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        world.send(new Command.Fail(run, step.id(), 1, new StepError("BROKE", ErrorClass.INFRASTRUCTURE, "broke"),
                Result.of("null"), Actor.agent("worker")));
        assertThat(world.store.dueTimers(world.connection(), 10)).isEmpty();
        world.tick(Duration.ofSeconds(1));
        assertThat(world.store.dueTimers(world.connection(), 10)).singleElement()
                .satisfies(timer -> assertThat(timer.subject()).isEqualTo(step.id()));

        world.tick(Duration.ofMinutes(2));
        assertThat(stuckJoins()).isEqualTo(new Sweep(List.of(), Place.FIRST));
        RunFixtures.execute(world.connection(),
                "update orchestration_tasks set state = 'failed', state_type = 'terminal', completed_at = now()");
        RunFixtures.execute(world.connection(), "delete from timers where kind <> 'watch'");
        assertThat(stuckJoins()).isEqualTo(new Sweep(List.of(run), Place.FIRST));
        Place end = new Place(world.workspace, run);
        assertThat(world.store.stuckJoins(world.connection(), Place.FIRST, 1))
                .isEqualTo(new Sweep(List.of(run), end));
        assertThat(world.store.stuckJoins(world.connection(), end, 1)).isEqualTo(new Sweep(List.of(), Place.FIRST));
        world.connection().rollback();
    }

    /** Plans made while the tables were empty are kept by their connection and must still go by index later. */
    @Test
    void dueWorkIsFoundByIndex() throws SQLException {
        try (Connection c = world.database.dedicatedConnection()) {
            for (int i = 0; i < 10; i++) {
                world.store.candidates(c, new Search(null, List.of("common", "echo"), 100, new WorkspaceRoundRobin()));
                world.store.expired(c, 100);
                world.store.dueTimers(c, 100);
                world.store.due(c, false);
            }
            fill();
            assertThat(rowsRead(c,
                    () -> world.store.candidates(c,
                            new Search(null, List.of("common", "echo"), 100, new WorkspaceRoundRobin()))))
                    .isBetween(100L, 210L);
            assertThat(rowsRead(c,
                    () -> world.store.candidates(c,
                            new Search(world.workspace, List.of("rare"), 100, new WorkspaceRoundRobin()))))
                    .isZero();
            assertThat(rowsRead(c, () -> world.store.expired(c, 100))).isZero();
            assertThat(rowsRead(c, () -> world.store.dueTimers(c, 100))).isZero();
            assertThat(rowsRead(c, () -> world.store.due(c, false))).isLessThan(10);
            world.now = Instant.parse("2031-01-01T00:00:00Z");
            assertThat(rowsRead(c, () -> world.store.expired(c, 100))).as("100 leases, twice to take them")
                    .isLessThan(410);
            assertThat(rowsRead(c, () -> world.store.dueTimers(c, 100))).isBetween(100L, 110L);
            assertThat(rowsRead(c, () -> world.store.due(c, false))).isLessThan(10);
        }
    }

    /** Half of the queue is held, by running steps; nothing of tool {@code rare} is to be had. */
    private void fill() throws SQLException {
        RunFixtures.execute(world.connection(), """
                with queued as (
                    insert into work_queue (task_id, lane, run_id, workspace_id, tool, priority, queued_at, holder, lease_ms,
                        lease_expires_at, deadline_at)
                    select gen_random_uuid(), 0, gen_random_uuid(), '%s',
                        case when n %% 100 = 0 then 'rare' else 'common' end, 100, now(),
                        case when n %% 2 = 0 then 'w' end, case when n %% 2 = 0 then 1000 end,
                        case when n %% 2 = 0 then '2030-01-01'::timestamptz + n * interval '1 s' end,
                        case when n %% 4 = 0 then '2030-01-01'::timestamptz + n * interval '1 s' end
                      from generate_series(1, 50000) n
                    returning task_id, run_id, workspace_id, tool, holder)
                insert into task_steps (id, run_id, task_id, workspace_id, attempt_of_run, task_attempt, name, kind, tool,
                    position, turn, input, retry, timeout_ms, state, state_type, attempt, deliveries, lease_epoch, started_at,
                    created_at)
                select gen_random_uuid(), run_id, task_id, workspace_id, 1, 1, 's', 'tool', tool, 1, 1, '{}', '{}', 1000,
                    'running', 'running', 1, 1, 1, now(), now()
                  from queued where holder is not null""".formatted(world.workspace));
        RunFixtures.execute(world.connection(), """
                insert into timers (kind, subject, run_id, due_at)
                select 'step_retry', gen_random_uuid(), gen_random_uuid(), '2030-01-01'::timestamptz + n * interval '1 s'
                  from generate_series(1, 50000) n""");
        world.connection().commit();
    }

    @FunctionalInterface
    private interface Query {
        void run() throws SQLException;
    }

    /** Rows of queue, timers and steps that a query read from the tables, as PostgreSQL counts them. */
    private static long rowsRead(Connection c, Query query) throws SQLException {
        c.setAutoCommit(false);
        long before = rowsRead(c);
        query.run();
        long read = rowsRead(c) - before;
        c.commit();
        return read;
    }

    private static long rowsRead(Connection c) throws SQLException {
        return Long.parseLong(RunFixtures.query(c, """
                select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables
                 where relname in ('work_queue', 'timers', 'task_steps')""").getFirst());
    }

    @Test
    void aChangeOfASettingChangesTheMark() throws SQLException {
        assertThat(due().settings()).as("of a poll that does not read it").isNull();
        Set<String> marks = new HashSet<>();
        marks.add(mark());
        for (String change : List.of(
                "insert into workspace_limits (workspace_id, name, most) values ('%s', 'tool:echo', 3)",
                "update workspace_limits set most = 4",
                "insert into prices (version, kind, name, usd_per_call, created_at, created_by) values (1, 'tool', 'echo', 1, now(), 'test')",
                "insert into tool_versions (workspace_id, tool, current, updated_by) values ('%s', 'echo', '1', 'test')",
                "update tool_versions set percent = 1, ramping = '2'",
                "insert into mcp_servers (workspace_id, name, definition, updated_by) values ('%s', 'files', '{}', 'test')",
                "update mcp_servers set error = 'it failed'",
                "insert into mcp_tools (workspace_id, server, name) values ('%s', 'files', 'read')",
                "update mcp_tools set accepted = '{}'",
                "delete from workspace_limits")) {
            RunFixtures.execute(world.connection(), change.formatted(world.workspace));
            assertThat(marks.add(mark())).as(change).isTrue();
            world.connection().commit();
        }
        RunFixtures.execute(world.connection(), "update mcp_servers set checked_at = now()");
        assertThat(marks).as("after a look at the tools").contains(mark());
        world.connection().commit();
    }

    private String mark() throws SQLException {
        return Objects.requireNonNull(world.store.due(world.connection(), true).settings());
    }

    private Due due() throws SQLException {
        Due due = world.store.due(world.connection(), false);
        world.connection().commit();
        return due;
    }

    private Sweep stuckJoins() throws SQLException {
        return world.store.stuckJoins(world.connection(), Place.FIRST, 10);
    }
}
