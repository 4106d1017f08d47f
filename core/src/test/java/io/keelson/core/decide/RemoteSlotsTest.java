package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.keelson.core.decide.ChangeSet.Given;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.LocalCapacity.RemoteSlot;
import io.keelson.core.decide.LocalCapacity.Slots;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Steps for workers whose claims wait at the deciding node. */
class RemoteSlotsTest {
    private static final Duration LEASE = Duration.ofSeconds(7);

    private record Slot(String holder, Duration lease) implements RemoteSlot {}

    /** A worker's claim. */
    private static final class Claim implements LocalCapacity.RemoteSlots {
        private final String tool;
        private int free;

        private Claim(String tool, int free) {
            this.tool = tool;
            this.free = free;
        }

        @Override
        public RemoteSlot take(UUID workspace, String wanted, @Nullable String version) {
            return World.WORKSPACE.equals(workspace) && tool.equals(wanted) && free-- > 0 ? new Slot("w1", LEASE)
                    : null;
        }
    }

    private static final Slots NO_SLOTS = new Slots() {
        @Override
        public boolean take(String tool) {
            return false;
        }

        @Override
        public boolean fits(ChangeSet.Lane lane, String tool) {
            return false;
        }
    };

    private final World world = World.accept(RunPolicy.DEFAULT, plan(task("a"), task("b")));

    private static LocalCapacity capacity(LocalCapacity.RemoteSlots claims, LocalCapacity.Limits limits) {
        return new LocalCapacity("node", tool -> true, World.LEASE, NO_SLOTS, claims, limits,
                LocalCapacity.Versions.NONE);
    }

    private ChangeSet started(LocalCapacity capacity) {
        ChangeSet batch = new ChangeSet();
        decide(batch, new Command.Start(world.id(), World.WHO), capacity);
        return batch;
    }

    private void decide(ChangeSet batch, Command command, LocalCapacity capacity) {
        Reply reply = Decider.decide(world.view, command, batch, world.now, UUID::randomUUID, capacity,
                Funds.UNLIMITED);
        assertThat(reply).isEqualTo(Reply.CHANGED);
    }

    @Test
    void waitingClaimHoldsTheStepFromItsOpeningCommit() {
        LocalCapacity capacity = capacity(new Claim("noop", 1), LocalCapacity.Limits.NONE);

        ChangeSet batch = started(capacity);

        StepRow first = world.step("a", "s1");
        assertThat(first.state()).isEqualTo(StepState.RUNNING);
        assertThat(first.leaseEpoch()).isEqualTo(1);
        assertThat(world.step("b", "s1").state()).as("without a slot").isEqualTo(StepState.PENDING);
        assertThat(batch.assignments()).singleElement().satisfies(given -> {
            assertThat(given.slot()).isEqualTo(new Slot("w1", LEASE));
            assertThat(given.assignment().stepId()).isEqualTo(first.id());
            assertThat(given.assignment().leaseExpiresAt()).isEqualTo(world.now.plus(LEASE));
            assertThat(given.assignment().deadline()).isEqualTo(world.now.plusSeconds(30));
        });
        assertThat(capacity.takenRemotely()).containsExactly(new Slot("w1", LEASE));
        assertThat(batch.queue().values()).extracting(item -> item.orElseThrow())
                .extracting(QueueItem::holder, QueueItem::lease, QueueItem::timeout)
                .containsExactlyInAnyOrder(tuple("w1", LEASE, Duration.ofSeconds(30)), tuple(null, null, null));
    }

    @Test
    void claimForOtherToolsGetsNothing() {
        assertThat(started(capacity(new Claim("other", 2), LocalCapacity.Limits.NONE)).assignments()).isEmpty();
    }

    @Test
    void limitedWorkspaceQueuesItsSteps() {
        LocalCapacity capacity = capacity(new Claim("noop", 2), new LocalCapacity.Limits() {
            @Override
            public boolean limited(UUID workspace) {
                return true;
            }

            @Override
            public boolean limited(UUID workspace, String tool, String input, @Nullable String agent) {
                return false;
            }
        });

        assertThat(started(capacity).assignments()).isEmpty();
        assertThat(capacity.takenRemotely()).isEmpty();
    }

    @Test
    void stepThatIsCancelledInTheSameBatchIsNotGiven() {
        LocalCapacity capacity = capacity(new Claim("noop", 2), LocalCapacity.Limits.NONE);
        ChangeSet batch = started(capacity);
        UUID cancelled = world.step("a", "s1").id();

        decide(batch, new Command.CancelTask(world.id(), world.task("a").id(), null, World.WHO), capacity);

        assertThat(batch.assignments()).extracting(Given::assignment).extracting(assignment -> assignment.stepId())
                .containsExactly(world.step("b", "s1").id()).doesNotContain(cancelled);
        assertThat(capacity.takenRemotely()).hasSize(2);
    }
}
