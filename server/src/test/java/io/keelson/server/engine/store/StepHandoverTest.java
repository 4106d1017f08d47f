package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.StepRow;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A step that begins with the end of the one before it has no update of its own: its row is written when it ends, fails or
 * loses its lease. {@link World} compares the loaded view with the decided one after each command.
 */
class StepHandoverTest {
    private static final UUID RUN = new UUID(1, 1);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Actor NODE = Actor.agent("node");
    private static final String SHOWN = """
            select concat_ws(' ', name, state, attempt, deliveries, lease_epoch, to_char(started_at, 'SS')) from %s
             where state_type <> 'terminal' order by position""";

    private final World world = new World();

    @BeforeEach
    void theFirstStepEnds() throws SQLException {
        world.capacity = new LocalCapacity("node", tool -> true, LEASE, 1);
        world.send(new Command.Create(run(RUN, world.workspace, RunPolicy.DEFAULT,
                task("a", List.of(), step("one"), step("two"), step("three"))), true, NODE));
        world.tick(Duration.ofSeconds(7));
        complete("one");
    }

    @AfterEach
    void close() throws SQLException {
        world.close();
    }

    @Test
    void nextStepRunsAndIsNotWritten() throws SQLException {
        assertThat(world.query(SHOWN.formatted("orchestration_steps")))
                .containsExactly("two running 1 1 1 07", "three pending 0 0 0");
        assertThat(world.query(SHOWN.formatted("task_steps"))).containsExactly("two pending 0 0 0",
                "three pending 0 0 0");

        world.tick(Duration.ofSeconds(1));
        complete("two");
        world.forget(RUN);
        world.views.put(RUN, world.load(RUN));
        complete("three");
        assertThat(world.query("select concat_ws(' ', name, state, lease_epoch, to_char(started_at, 'SS'),"
                + " to_char(completed_at, 'SS')) from orchestration_steps order by position"))
                .containsExactly("one completed 1 00 07", "two completed 1 07 08", "three completed 1 08 08");
    }

    /** The lease of a node that was killed then runs out, and the second epoch is in the row. */
    @Test
    void expiredLeaseIsInTheRow() throws SQLException {
        StepRow two = named("two");
        world.forget(RUN);
        world.capacity = LocalCapacity.none();
        world.tick(LEASE.plusSeconds(8));
        assertThat(world.store.expired(world.connection(), 10)).singleElement()
                .satisfies(lost -> assertThat(lost.epoch()).isEqualTo(1));
        assertThat(world.send(new Command.LeaseExpired(RUN, two.id(), 1, LEASE, NODE)))
                .isEqualTo(Reply.CHANGED);
        assertThat(shownOfTwo()).isEqualTo("two running 1 1 1 07");

        world.send(new Command.Claim(RUN, two.task().id(), 0, "other", LEASE, NODE));
        assertThat(shownOfTwo()).isEqualTo("two running 1 2 2 07");
        assertThat(world.send(new Command.Complete(RUN, two.id(), 1, Result.of("1"), NODE)))
                .isInstanceOf(Reply.Rejected.class);
    }

    @Test
    void releasedStepIsInTheRow() throws SQLException {
        world.capacity = LocalCapacity.none();
        world.send(new Command.Release(RUN, named("two").id(), 1, NODE));
        assertThat(shownOfTwo()).isEqualTo("two running 1 0 1 07");
    }

    @Test
    void failedStepIsInTheRow() throws SQLException {
        world.send(new Command.Fail(RUN, named("two").id(), 1, new StepError("NO", ErrorClass.INFRASTRUCTURE, "no"),
                Result.of("null"), NODE));
        assertThat(shownOfTwo()).isEqualTo("two awaiting_retry 1 0 1 07");
    }

    @Test
    void heartbeatsExtendItsLease() throws SQLException {
        StepRow two = named("two");
        LeaseHeartbeats heartbeats = new LeaseHeartbeats(() -> world.now);
        world.tick(Duration.ofSeconds(5));
        assertThat(heartbeats.beat(world.connection(), world.workspace, "node",
                List.of(new LeaseHeartbeats.Beat(two.id(), 1, null, null, null))))
                .containsEntry(two.id(), world.now.plus(LEASE));
        assertThat(heartbeats.beat(world.connection(), world.workspace, "node",
                List.of(new LeaseHeartbeats.Beat(two.id(), 2, null, null, null)))).isEmpty();
        world.store.extendLeases(world.connection(), "node", List.of(new Lane(two.task().id(), 0)));
        world.connection().commit();
    }

    private void complete(String name) throws SQLException {
        StepRow step = named(name);
        assertThat(world.send(new Command.Complete(RUN, step.id(), step.leaseEpoch(), Result.of("1"), NODE)))
                .isEqualTo(Reply.CHANGED);
    }

    private StepRow named(String name) {
        return world.view(RUN).tasks().iterator().next().steps().stream().filter(step -> step.name().equals(name))
                .findFirst().orElseThrow();
    }

    /** The row itself, in the columns of the view. */
    private String shownOfTwo() throws SQLException {
        List<String> rows = world.query(SHOWN.formatted("task_steps"));
        assertThat(rows).isEqualTo(world.query(SHOWN.formatted("orchestration_steps")));
        return rows.getFirst();
    }
}
