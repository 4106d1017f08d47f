package io.keelson.server.run;

import static io.keelson.server.run.RunFixtures.run;
import static io.keelson.server.run.RunFixtures.step;
import static io.keelson.server.run.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Changes.Lane;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Offer;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepRow;
import io.keelson.server.run.Heartbeats.Beat;
import io.keelson.server.run.RunStore.Candidate;
import io.keelson.server.run.RunStore.Due;
import io.keelson.server.run.RunStore.Expired;
import io.keelson.server.run.RunStore.Place;
import io.keelson.server.run.RunStore.Search;
import io.keelson.server.run.RunStore.Sweep;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What may be claimed, what is overdue, and leases that are kept. */
class DueWorkTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final List<String> ECHO = List.of("echo");

    private final World world = new World();
    private final Heartbeats heartbeats = new Heartbeats(() -> world.now);
    private long ids;

    @AfterEach
    void close() throws SQLException {
        world.close();
    }

    @Test
    void lowerPriorityFirstThenWhatWaitedLongest() throws SQLException {
        UUID late = start(world.workspace, 100);
        world.tick(Duration.ofSeconds(1));
        UUID later = start(world.workspace, 100);
        UUID urgent = start(world.workspace, 1);

        assertThat(candidates(10)).extracting(Candidate::runId).containsExactly(urgent);
        claim(urgent, "worker");
        assertThat(candidates(10)).extracting(Candidate::runId).containsExactly(late, later);
        assertThat(candidates(1)).extracting(Candidate::runId).containsExactly(late);
        assertThat(world.store.candidates(world.connection(), new Search(null, List.of("other"), 10, new Turns())))
                .isEmpty();
    }

    @Test
    void workspacesTakeTurnsWithinAPriority() throws SQLException {
        UUID busy = start(world.workspace, 100);
        start(world.workspace, 100);
        start(world.workspace, 100);
        world.tick(Duration.ofSeconds(1));
        UUID other = RunFixtures.workspace(world.database);
        UUID quiet = start(other, 100);

        assertThat(candidates(2)).extracting(Candidate::runId).containsExactlyInAnyOrder(busy, quiet);
        assertThat(world.store.candidates(world.connection(), new Search(other, ECHO, 10, new Turns())))
                .extracting(Candidate::runId)
                .containsExactly(quiet);
    }

    /** One slot at a time becomes free: the flood has waited longest, and still everybody has a turn. */
    @Test
    void whoeverWasServedLastWaitsForTheOthers() throws SQLException {
        List<UUID> workspaces = new ArrayList<>(List.of(world.workspace, RunFixtures.workspace(world.database),
                RunFixtures.workspace(world.database)));
        workspaces.sort(Comparator.comparing(UUID::toString));
        UUID flood = workspaces.get(1);
        for (int i = 0; i < 4; i++) {
            start(flood, 100);
        }
        world.tick(Duration.ofSeconds(1));
        start(workspaces.get(0), 100);
        start(workspaces.get(2), 100);
        start(workspaces.get(2), 100);
        start(flood, 200);
        start(workspaces.get(0), 50);
        Turns turns = new Turns();
        List<String> served = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            Candidate next = world.store.candidates(world.connection(), new Search(null, ECHO, 1, turns)).getFirst();
            turns.taken(next);
            served.add(workspaces.indexOf(next.workspaceId()) + "@" + next.priority());
            world.send(new Command.Claim(next.runId(), next.taskId(), next.lane(), "node", LEASE, Actor.agent("node")));
        }

        assertThat(served).containsExactly("0@50", "0@100", "1@100", "2@100", "1@100", "2@100", "1@100", "1@100",
                "1@200");
    }

    /** However many are claimed at a time, the order is the same. */
    @Test
    void turnsGoOnFromOneClaimToTheNext() throws SQLException {
        List<UUID> workspaces = new ArrayList<>(List.of(world.workspace, RunFixtures.workspace(world.database)));
        workspaces.sort(Comparator.comparing(UUID::toString));
        for (int i = 0; i < 3; i++) {
            start(workspaces.get(0), 100);
            start(workspaces.get(1), 100);
        }
        Turns turns = new Turns();
        List<Integer> served = new ArrayList<>();
        for (int many : List.of(1, 3, 2)) {
            for (Candidate next : world.store.candidates(world.connection(), new Search(null, ECHO, many, turns))) {
                turns.taken(next);
                served.add(workspaces.indexOf(next.workspaceId()));
                world.send(new Command.Claim(next.runId(), next.taskId(), next.lane(), "node", LEASE,
                        Actor.agent("node")));
            }
        }

        assertThat(served).containsExactly(0, 1, 0, 1, 0, 1);
    }

    @Test
    void whatHasNoRoomAtWorkIsPassedOver() throws SQLException {
        UUID other = RunFixtures.workspace(world.database);
        UUID first = start(world.workspace, 100);
        start(world.workspace, 100);
        UUID theirs = start(other, 100);
        WorkLimits limits = new WorkLimits();
        RunFixtures.execute(world.connection(), "insert into workspace_limits values ('" + world.workspace
                + "', 'steps', 1)");
        limits.refresh(world.connection());
        world.connection().commit();
        assertThat(limits.limited(world.workspace)).isTrue();
        assertThat(limits.limited(world.workspace, "echo", "{}")).isFalse();
        assertThat(limits.limited(other)).isFalse();

        Search all = new Search(null, ECHO, 10, new Turns());
        assertThat(world.store.candidates(world.connection(), all, room(limits))).hasSize(3);
        claim(first, "worker");
        assertThat(world.store.candidates(world.connection(), all, room(limits))).extracting(Candidate::runId)
                .containsExactly(theirs);
        world.connection().rollback();
    }

    private WorkLimits.Room room(WorkLimits limits) throws SQLException {
        return limits.room(world.connection(), limits.workspaces());
    }

    @Test
    void aClaimedLaneIsNoCandidateAndExpiresUnderItsEpoch() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        assertThat(candidates(10)).isEmpty();

        world.tick(LEASE);
        assertThat(expired()).isEmpty();
        world.tick(Duration.ofMillis(1));
        assertThat(expired()).containsExactly(new Expired(run, step.task().id(), 0, step.id(), 1, LEASE, false));

        expire(expired().getFirst());
        assertThat(candidates(10)).hasSize(1);
        assertThat(expired()).isEmpty();
    }

    @Test
    void oneLookTellsWhatWantsToBeDone() throws SQLException {
        assertThat(due()).isEqualTo(new Due(false, false, false, false, false, false, false, null));
        UUID run = start(world.workspace, 100);
        assertThat(due()).isEqualTo(new Due(true, false, false, false, false, false, false, null));
        StepRow step = claim(run, "worker");
        world.tick(Duration.ofSeconds(20));
        assertThat(due()).isEqualTo(new Due(false, false, false, false, false, false, false, Duration.ofSeconds(10)));
        world.tick(Duration.ofMillis(10_001));
        assertThat(due()).isEqualTo(new Due(false, true, false, false, false, false, false, null));

        beat(step, "worker", 1);
        world.tick(Duration.ofSeconds(6));
        assertThat(due()).as("past its deadline and the grace")
                .isEqualTo(new Due(false, true, false, false, false, false, false, Duration.ofSeconds(24)));
        world.send(new Command.Fail(run, step.id(), 1, new StepError("BROKE", ErrorClass.INFRASTRUCTURE, "broke"),
                Result.of("null"), Actor.agent("worker")));
        world.tick(Duration.ofSeconds(1));
        assertThat(due()).isEqualTo(new Due(false, false, true, false, false, false, false, null));
    }

    @Test
    void anExpiryIsNothingToTheLeaseThatFollowed() throws SQLException {
        UUID run = start(world.workspace, 100);
        claim(run, "worker");
        world.tick(LEASE.plusSeconds(1));
        Expired found = expired().getFirst();
        expire(found);
        claim(run, "other");

        assertThat(expire(found)).isEqualTo(Reply.UNCHANGED);
        assertThat(world.query("select holder from work_queue")).containsExactly("other");
    }

    @Test
    void aHolderThatLivesIsTimedOutAtItsDeadlineAndGrace() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        for (int i = 0; i < 4; i++) {
            world.tick(Duration.ofSeconds(9));
            beat(step, "worker", 1);
        }
        assertThat(expired()).containsExactly(new Expired(run, step.task().id(), 0, step.id(), 1, LEASE, true));
        assertThat(world.store.expired(world.connection(), Duration.ofSeconds(10), 10)).isEmpty();
    }

    @Test
    void onlyTheEpochsHolderExtendsALease() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        world.tick(Duration.ofSeconds(20));

        assertThat(beat(step, "worker", 2)).isEmpty();
        assertThat(beat(step, "other", 1)).isEmpty();
        assertThat(heartbeats.beat(world.connection(), UUID.randomUUID(), "worker",
                List.of(new Beat(step.id(), 1, null, null, null)))).isEmpty();
        assertThat(beat(step, "worker", 1)).containsEntry(step.id(), world.now.plus(LEASE));
    }

    @Test
    void aNodeExtendsWhatItHoldsAndHasNoDeadline() throws SQLException {
        UUID run = start(world.workspace, 100);
        world.offer = new Offer("node", tool -> true, LEASE, 0);
        Lane lane = new Lane(claim(run, "node").task().id(), 0);
        world.tick(Duration.ofSeconds(20));

        assertThat(world.store.extendLeases(world.connection(), "other", List.of(lane))).isZero();
        assertThat(world.store.extendLeases(world.connection(), "node", List.of(lane))).isOne();
        world.connection().commit();
        world.tick(Duration.ofSeconds(29));
        assertThat(expired()).isEmpty();
    }

    /** A heartbeat never waits for a commit, so the two can never wait for each other. */
    @Test
    void aHeartbeatPassesOverALaneThatACommitIsWorkingOn() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        Instant before = world.now.plus(LEASE);
        world.tick(Duration.ofSeconds(20));
        Connection commit = world.connection();
        RunFixtures.execute(commit, "update work_queue set priority = priority");
        Map<UUID, Instant> extended = world.database.inTransaction(c -> heartbeats.beat(c, world.workspace, "worker",
                List.of(new Beat(step.id(), 1, null, null, null))));
        int kept = world.database.inTransaction(
                c -> world.store.extendLeases(c, "worker", List.of(new Lane(step.task().id(), 0))));
        commit.rollback();

        assertThat(extended).containsEntry(step.id(), before);
        assertThat(kept).isZero();
    }

    @Test
    void progressAndDetailsOutliveTheLease() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        heartbeats.beat(world.connection(), world.workspace, "worker",
                List.of(new Beat(step.id(), 1, 0.25, "a quarter", "{\"page\":3}")));
        heartbeats.beat(world.connection(), world.workspace, "worker",
                List.of(new Beat(step.id(), 1, 0.5, null, null)));
        world.connection().commit();
        assertThat(world.query("select progress || ' ' || message || ' ' || details from step_progress"))
                .containsExactly("0.5 a quarter {\"page\": 3}");

        world.tick(LEASE.plusSeconds(1));
        expire(expired().getFirst());
        claim(run, "other");
        assertThat(new StepWorkReader().work(world.connection(), List.of(step.id())).get(step.id()))
                .satisfies(work -> {
                    assertThat(work.details()).isEqualTo("{\"page\": 3}");
                    assertThat(work.effectKey()).isEqualTo(run + "/1/a/one");
                    assertThat(work.leaseEpoch()).isEqualTo(2);
                    assertThat(work.attempt()).isEqualTo(1);
                    assertThat(work.holder()).isEqualTo("other");
                    assertThat(work.deadline()).isEqualTo(world.now.plusSeconds(30));
                });
    }

    @Test
    void logLinesAreNumberedCutAndBounded() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        heartbeats.log(world.connection(),
                List.of(new Heartbeats.Log(step.id(), 1, 0, List.of("one", "x".repeat(5_000))),
                        new Heartbeats.Log(step.id(), 1, 0, List.of("three"))));
        heartbeats.log(world.connection(), List.of(new Heartbeats.Log(step.id(), 1, 0, List.of("four\u0000"))));
        heartbeats.log(world.connection(), List.of(new Heartbeats.Log(step.id(), 1, 1,
                Collections.nCopies(6_000, "more"))));
        world.connection().commit();

        assertThat(world
                .query("select attempt || ' ' || line || ' ' || left(message, 5) from step_logs order by line limit 4"))
                .containsExactly("1 1 one", "1 2 xxxxx", "1 3 three", "1 4 four\uFFFD");
        assertThat(world.query("select max(length(message)) || ' ' || count(*) from step_logs"))
                .containsExactly("4000 5000");
    }

    @Test
    void timersComeDueInOrderAndStuckRunsAreFound() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        world.send(new Command.Fail(run, step.id(), 1, new StepError("BROKE",
                ErrorClass.INFRASTRUCTURE, "broke"), Result.of("null"),
                Actor.agent("worker")));
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
    void whatIsDueIsFoundByIndex() throws SQLException {
        try (Connection c = world.database.dedicatedConnection()) {
            for (int i = 0; i < 10; i++) {
                world.store.candidates(c, new Search(null, List.of("common", "echo"), 100, new Turns()));
                world.store.expired(c, 100);
                world.store.dueTimers(c, 100);
                world.store.due(c);
            }
            fill();
            assertThat(rowsRead(c,
                    () -> world.store.candidates(c, new Search(null, List.of("common", "echo"), 100, new Turns()))))
                    .isBetween(100L, 210L);
            assertThat(rowsRead(c,
                    () -> world.store.candidates(c, new Search(world.workspace, List.of("rare"), 100, new Turns()))))
                    .isZero();
            assertThat(rowsRead(c, () -> world.store.expired(c, 100))).isZero();
            assertThat(rowsRead(c, () -> world.store.dueTimers(c, 100))).isZero();
            assertThat(rowsRead(c, () -> world.store.due(c))).isLessThan(10);
            world.now = Instant.parse("2031-01-01T00:00:00Z");
            assertThat(rowsRead(c, () -> world.store.expired(c, 100))).isLessThan(210);
            assertThat(rowsRead(c, () -> world.store.dueTimers(c, 100))).isBetween(100L, 110L);
            assertThat(rowsRead(c, () -> world.store.due(c))).isLessThan(10);
        }
    }

    /** Half of the queue is held; nothing of tool {@code rare} is to be had. */
    private void fill() throws SQLException {
        RunFixtures.execute(world.connection(), """
                insert into work_queue (task_id, lane, run_id, workspace_id, tool, priority, queued_at, holder, lease_ms,
                    lease_expires_at, deadline_at)
                select gen_random_uuid(), 0, gen_random_uuid(), '%s', case when n %% 100 = 0 then 'rare' else 'common' end,
                    100, now(), case when n %% 2 = 0 then 'w' end, case when n %% 2 = 0 then 1000 end,
                    case when n %% 2 = 0 then '2030-01-01'::timestamptz + n * interval '1 s' end,
                    case when n %% 4 = 0 then '2030-01-01'::timestamptz + n * interval '1 s' end
                  from generate_series(1, 50000) n""".formatted(world.workspace));
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

    /** Rows of queue and timers that a query read from the tables, as PostgreSQL counts them. */
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
                 where relname in ('work_queue', 'timers')""").getFirst());
    }

    private UUID start(UUID workspace, int priority) throws SQLException {
        var made = run(new UUID(9, ++ids), workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one")));
        world.send(new Command.Create(new NewRun(made.id(), made.workspaceId(), made.name(), null,
                made.goal(), made.plan(), made.planJson(), made.configJson(), made.policy(), made.inputsJson(),
                made.tagsJson(), null, priority, "api", null, null, "tester"), true, Actor.human("tester")));
        return made.id();
    }

    private StepRow claim(UUID run, String holder) throws SQLException {
        Candidate found = candidates(10).stream().filter(c -> c.runId().equals(run)).findFirst().orElseThrow();
        Reply reply = world.send(new Command.Claim(run, found.taskId(), found.lane(), holder, LEASE,
                Actor.agent(holder)));
        return world.view(run).step(((Reply.Claimed) reply).work().stepId());
    }

    private List<Candidate> candidates(int limit) throws SQLException {
        return world.store.candidates(world.connection(), new Search(null, ECHO, limit, new Turns()));
    }

    private Due due() throws SQLException {
        Due due = world.store.due(world.connection());
        world.connection().commit();
        return due;
    }

    private Sweep stuckJoins() throws SQLException {
        return world.store.stuckJoins(world.connection(), Place.FIRST, 10);
    }

    private List<Expired> expired() throws SQLException {
        return world.store.expired(world.connection(), 10);
    }

    private Reply expire(Expired found) throws SQLException {
        return world.send(new Command.LeaseExpired(found.runId(), found.taskId(), found.lane(), found.epoch(),
                found.lease(), Actor.RECONCILER));
    }

    private Map<UUID, Instant> beat(StepRow step, String holder, int epoch) throws SQLException {
        Map<UUID, Instant> extended = heartbeats.beat(world.connection(), world.workspace, holder,
                List.of(new Beat(step.id(), epoch, null, null, null)));
        world.connection().commit();
        return extended;
    }
}
