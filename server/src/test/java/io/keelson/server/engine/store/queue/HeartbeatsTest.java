package io.keelson.server.engine.store.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.StepRow;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.store.QueuedWork;
import io.keelson.server.engine.store.RunFixtures;
import io.keelson.server.engine.store.RunStore.Expired;
import io.keelson.server.engine.store.queue.LeaseHeartbeats.Beat;
import io.keelson.server.engine.store.read.StepWorkReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Leases that are kept, by whom, and what heartbeats bring with them. */
class HeartbeatsTest extends QueuedWork {

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
        assertThat(expired())
                .containsExactly(new Expired(run, step.task().id(), 0, step.id(), 1, LEASE, false, true, null));
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
        world.capacity = new LocalCapacity("node", tool -> true, LEASE, 0);
        Lane lane = new Lane(claim(run, "node").task().id(), 0);
        world.tick(Duration.ofSeconds(20));

        assertThat(world.store.extendLeases(world.connection(), "other", List.of(lane))).as("lost")
                .containsExactly(lane);
        assertThat(world.store.extendLeases(world.connection(), "node", List.of(lane))).as("lost").isEmpty();
        world.connection().commit();
        world.tick(Duration.ofSeconds(29));
        assertThat(expired()).isEmpty();
    }

    /** A heartbeat never waits for a commit, so the two can never wait for each other. */
    @Test
    void heartbeatSkipsALaneLockedByACommit() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        Instant before = world.now.plus(LEASE);
        world.tick(Duration.ofSeconds(20));
        Connection commit = world.connection();
        RunFixtures.execute(commit, "update work_queue set priority = priority");
        Map<UUID, Instant> extended = world.database.inTransaction(c -> heartbeats.beat(c, world.workspace, "worker",
                List.of(new Beat(step.id(), 1, null, null, null))));
        Set<Lane> lost = world.database.inTransaction(
                c -> world.store.extendLeases(c, "worker", List.of(new Lane(step.task().id(), 0))));
        commit.rollback();

        assertThat(extended).containsEntry(step.id(), before);
        assertThat(lost).isEmpty();
        world.tick(Duration.ofSeconds(11));
        assertThat(expired()).as("kept by no worker").hasSize(1);
    }

    /** Else a request that is sent meanwhile would be named by nothing. */
    @Test
    void aHolderWritesNoDetailsOnceItsLeaseWasFoundExpired() throws SQLException {
        UUID run = start(world.workspace, 100);
        StepRow step = claim(run, "worker");
        Beat details = new Beat(step.id(), 1, null, null, "{\"page\":3}");
        world.tick(LEASE.plusSeconds(1));
        boolean late = heartbeats.record(world.connection(), world.workspace, "worker", details);
        List<Expired> during = world.database.inTransaction(c -> world.store.expired(c, 10));
        world.connection().commit();
        assertThat(late).as("its lease was found expired by no server").isTrue();
        assertThat(during).as("while the details are written").isEmpty();

        world.tick(LEASE.plusSeconds(1));
        List<Expired> found = world.database.inTransaction(c -> world.store.expired(c, 10));
        assertThat(found).extracting(Expired::details).containsExactly("{\"page\": 3}");
        assertThat(heartbeats.record(world.connection(), world.workspace, "worker", details)).isFalse();
        assertThat(beat(step, "worker", 1)).isEmpty();
        Lane lane = new Lane(step.task().id(), 0);
        assertThat(world.store.extendLeases(world.connection(), "worker", List.of(lane))).containsExactly(lane);
        world.connection().commit();
        expire(found.getFirst());
        assertThat(claim(run, "worker").leaseEpoch()).isEqualTo(2);
        assertThat(beat(step, "worker", 2)).hasSize(1);
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
                List.of(new LeaseHeartbeats.Log(step.id(), 1, 0, List.of("one", "x".repeat(5_000))),
                        new LeaseHeartbeats.Log(step.id(), 1, 0, List.of("three"))));
        heartbeats.log(world.connection(), List.of(new LeaseHeartbeats.Log(step.id(), 1, 0, List.of("four\u0000"))));
        heartbeats.log(world.connection(), List.of(new LeaseHeartbeats.Log(step.id(), 1, 1,
                Collections.nCopies(6_000, "more"))));
        world.connection().commit();

        assertThat(world
                .query("select attempt || ' ' || line || ' ' || left(message, 5) from step_logs order by line limit 4"))
                .containsExactly("1 1 one", "1 2 xxxxx", "1 3 three", "1 4 four\uFFFD");
        assertThat(world.query("select max(length(message)) || ' ' || count(*) from step_logs"))
                .containsExactly("4000 5000");
    }
}
