package io.keelson.server.engine.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Given;
import io.keelson.core.decide.LocalCapacity.RemoteSlot;
import io.keelson.core.run.StepAssignment;
import io.keelson.server.engine.dispatch.ClaimSeries.Begun;
import io.keelson.server.engine.dispatch.WorkAvailability.Offer;
import io.keelson.server.engine.dispatch.WorkAvailability.Watch;
import io.keelson.server.engine.tool.SlotKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClaimSeriesTest {
    private static final UUID OURS = new UUID(0, 1);
    private static final Set<String> TOOLS = Set.of("far.away");
    private static final Duration LEASE = Duration.ofSeconds(7);

    private final WorkAvailability available = new WorkAvailability(tool -> false, tool -> SlotKind.COMPUTING);
    private final BlockingQueue<StepAssignment> released = new LinkedBlockingQueue<>();
    /** A gap ends when the test runs its action. */
    private final BlockingQueue<Runnable> ends = new LinkedBlockingQueue<>();
    private final ClaimSeries series = new ClaimSeries(available, (gap, end) -> ends.add(end), (worker, steps) -> {
        assertThat(worker).isEqualTo("w1");
        released.addAll(steps);
    });

    @Test
    void nextClaimGetsTheStepsOfTheGapWithoutASearch() {
        pause(2);
        StepAssignment step = commitGives();

        Begun claim = series.begin(OURS, "w1", TOOLS, "unversioned");
        Watch next = claim.watch();

        assertThat(claim.follows()).isTrue();
        assertThat(next.withdraw()).containsExactly(step);
        assertThat(next.news()).as("a search finds no more than the commit").isFalse();
        assertThat(available.take(OURS, "far.away", null)).as("no slot while it neither waits nor pauses").isNull();
        ends.remove().run();
        assertThat(released).as("the gap had ended before").isEmpty();
    }

    /** Its next claim may go to another server. */
    @Test
    void firstClaimOfASeriesHasNoStepsInItsGap() {
        pause(series.begin(OURS, "w1", TOOLS, "unversioned"), 1);
        assertThat(available.take(OURS, "far.away", null)).isNull();
        ends.remove().run();
        pause(series.begin(OURS, "w1", TOOLS, "unversioned"), 1);
        assertThat(available.take(OURS, "far.away", null)).as("after a gap without a claim").isNull();
    }

    @Test
    void gapTakesNoMoreStepsThanThereAreSlots() {
        pause(1);
        commitGives();
        assertThat(available.take(OURS, "far.away", null)).isNull();
    }

    @Test
    void stepsAreReleasedWhenNoClaimFollows() throws Exception {
        pause(1);
        StepAssignment step = commitGives();

        ends.remove().run();

        assertThat(released.poll(1, TimeUnit.MINUTES)).isEqualTo(step);
        assertThat(available.take(OURS, "far.away", null)).isNull();
        assertThat(begin(TOOLS).news()).as("a claim after it searches").isTrue();
    }

    /** Its slot is taken by a commit in progress, which gives its step after the end. */
    @Test
    void stepOfACommitInProgressIsReleasedToo() throws Exception {
        pause(1);
        RemoteSlot slot = slot();
        ends.remove().run();
        StepAssignment step = step();
        available.give(List.of(new Given(slot, step)));
        available.settled(List.of(slot));

        assertThat(released.poll(1, TimeUnit.MINUTES)).isEqualTo(step);
    }

    @Test
    void claimWithOtherToolsBeginsANewSeries() {
        pause(1);
        StepAssignment step = commitGives();

        Watch other = begin(Set.of("other"));

        assertThat(released).containsExactly(step);
        assertThat(other.withdraw()).isEmpty();
        assertThat(other.news()).isTrue();
    }

    @Test
    void drainedWorkerAndClosedServerReleaseSteps() {
        pause(1);
        StepAssignment drained = commitGives();
        series.end(OURS, "w1");
        assertThat(released).containsExactly(drained);
        assertThat(available.take(OURS, "far.away", null)).isNull();

        pause(1);
        StepAssignment closed = commitGives();
        series.close();
        assertThat(released).containsExactly(drained, closed);
    }

    /** Two claims of one worker at the same time: the second one to end pauses. */
    @Test
    void secondGapOfAWorkerEndsTheFirst() {
        Begun first = new Begun(begin(TOOLS), true);
        Begun second = new Begun(begin(TOOLS), true);
        pause(first, 1);
        StepAssignment step = commitGives();
        pause(second, 1);
        assertThat(released).containsExactly(step);
        ends.remove().run();
        assertThat(available.take(OURS, "far.away", null)).as("the end of the first is not that of the second")
                .isNotNull();
    }

    private Watch begin(Set<String> tools) {
        return series.begin(OURS, "w1", tools, "unversioned").watch();
    }

    /** The gap of a claim that follows another one. */
    private void pause(int slots) {
        pause(new Begun(begin(TOOLS), true), slots);
    }

    private void pause(Begun claim, int slots) {
        var _ = claim.watch().news();
        series.pause(OURS, TOOLS, claim, new Offer("w1", LEASE, slots, Set.of(), "unversioned", () -> false));
    }

    private RemoteSlot slot() {
        return Objects.requireNonNull(available.take(OURS, "far.away", null));
    }

    private StepAssignment commitGives() {
        RemoteSlot slot = slot();
        StepAssignment step = step();
        available.give(List.of(new Given(slot, step)));
        available.settled(List.of(slot));
        return step;
    }

    private static StepAssignment step() {
        return new StepAssignment(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID(), "far.away", "{}", 1, 1,
                Instant.EPOCH, Instant.EPOCH, "key", null, null, null);
    }
}
