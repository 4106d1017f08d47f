package io.keelson.server.engine.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Given;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.core.decide.LocalCapacity.RemoteSlot;
import io.keelson.core.run.StepAssignment;
import io.keelson.server.engine.tool.SlotKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class WorkAvailabilityTest {
    private static final long LONG_MILLIS = TimeUnit.HOURS.toMillis(1);
    private static final Duration LEASE = Duration.ofSeconds(7);
    private static final UUID OURS = new UUID(0, 1);
    private static final UUID THEIRS = new UUID(0, 2);

    private final AtomicBoolean gone = new AtomicBoolean();
    private final WorkAvailability available = new WorkAvailability("noop"::equals, tool -> SlotKind.COMPUTING);

    @Test
    @Timeout(60)
    void stepQueuedAfterAVainSearchAndBeforeTheWaitEndsTheWait() throws Exception {
        try (WorkAvailability.Watch claim = available.watch(OURS, Set.of("far.away")::contains, null)) {
            assertThat(claim.news()).isTrue();
            // here the claim searches and finds nothing
            available.queued(List.of(item(OURS, "far.away")));
            claim.await(LONG_MILLIS);
            assertThat(claim.news()).isTrue();
            assertThat(claim.news()).as("one search for one step").isFalse();
        }
    }

    @Test
    void stepWakesOnlyMatchingSearches() {
        try (WorkAvailability.Watch ours = available.watch(OURS, Set.of("far.away", "other")::contains, null);
                WorkAvailability.Watch theirs = available.watch(THEIRS, Set.of("far.away")::contains, null);
                WorkAvailability.Watch others = available.watch(OURS, Set.of("other")::contains, null)) {
            List<WorkAvailability.Watch> all = List.of(ours, theirs, others, available.here());
            assertThat(news(all)).containsOnly(true);

            available.queued(List.of(item(OURS, "far.away")));
            assertThat(news(all)).containsExactly(true, false, false, false);

            available.queued(List.of(item(THEIRS, "noop"), item(OURS, "other")));
            assertThat(news(all)).containsExactly(true, false, true, true);
            assertThat(available.localQueue().queued(SlotKind.COMPUTING)).isEqualTo(1);

            available.slotFreed(SlotKind.COMPUTING);
            assertThat(news(all)).containsExactly(false, false, false, true);

            available.signal();
            assertThat(news(all)).containsOnly(true);
        }
    }

    @Test
    void workHeldBackByALimitIsSearchedAgainWhenALaneIsFree() {
        try (WorkAvailability.Watch claim = available.watch(OURS, Set.of("far.away")::contains, null)) {
            assertThat(claim.news()).isTrue();
            available.laneFreed();
            assertThat(claim.news()).isFalse();
            available.heldBack();
            available.laneFreed();
            assertThat(claim.news()).isTrue();
        }
    }

    /** Ends with the commit, and not before: the worker must not miss a step that it holds. */
    @Test
    @Timeout(60)
    void waitingClaimGetsTheStepsOfTheCommitThatTookItsSlots() throws Exception {
        try (WorkAvailability.Watch claim = searched(OURS); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<List<StepAssignment>> waiting = threads.submit(() -> await(claim, LONG_MILLIS, 2));
            RemoteSlot first = awaitSlot();
            RemoteSlot second = Objects.requireNonNull(available.take(OURS, "far.away", null));
            assertThat(available.take(OURS, "far.away", null)).as("no third slot").isNull();
            assertThat(first.holder()).isEqualTo("w1");
            assertThat(first.lease()).isEqualTo(LEASE);

            available.queued(List.of(item(OURS, "far.away")));
            assertThat(waiting.isDone()).isFalse();
            StepAssignment step = step();
            available.give(List.of(new Given(first, step)));
            available.settled(List.of(first, second));

            assertThat(waiting.get()).containsExactly(step);
            assertThat(available.take(OURS, "far.away", null)).as("the claim is answered").isNull();
            assertThat(await(claim, 0, 2)).as("once").isEmpty();
        }
    }

    @Test
    @Timeout(60)
    void refusedCommitLeavesTheClaimWaiting() throws Exception {
        try (WorkAvailability.Watch claim = searched(OURS); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<List<StepAssignment>> waiting = threads.submit(() -> await(claim, LONG_MILLIS, 1));
            available.settled(List.of(awaitSlot()));
            RemoteSlot again = awaitSlot();
            StepAssignment step = step();
            available.give(List.of(new Given(again, step)));
            available.settled(List.of(again));

            assertThat(waiting.get()).containsExactly(step);
        }
    }

    @Test
    @Timeout(60)
    void interruptedClaimWaitsForTheCommitThatTookItsSlot() throws Exception {
        try (WorkAvailability.Watch claim = searched(OURS); var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            AtomicReference<Thread> thread = new AtomicReference<>();
            Future<List<StepAssignment>> waiting = threads.submit(() -> {
                thread.set(Thread.currentThread());
                try {
                    return await(claim, LONG_MILLIS, 1);
                } catch (InterruptedException e) {
                    return claim.end();
                }
            });
            RemoteSlot slot = awaitSlot();
            Objects.requireNonNull(thread.get()).interrupt();
            StepAssignment step = step();
            available.give(List.of(new Given(slot, step)));
            available.settled(List.of(slot));

            assertThat(waiting.get()).containsExactly(step);
        }
    }

    @Test
    @Timeout(60)
    void onlyClaimsThatWaitForThatWorkOfferSlots() throws Exception {
        try (WorkAvailability.Watch claim = searched(OURS);
                WorkAvailability.Watch late = available.watch(OURS, Set.of("far.away")::contains, null);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            assertThat(available.take(OURS, "far.away", null)).as("none waits").isNull();
            Future<List<StepAssignment>> waiting = threads.submit(() -> await(claim, LONG_MILLIS, 1));
            available.settled(List.of(awaitSlot()));
            assertThat(available.take(OURS, "other", null)).isNull();
            gone.set(true);
            assertThat(available.take(OURS, "far.away", null)).as("its worker is gone").isNull();
            gone.set(false);
            assertThat(available.take(THEIRS, "far.away", null)).isNull();
            available.signal();
            assertThat(available.take(OURS, "far.away", null)).as("it is to search first").isNull();
            assertThat(waiting.get()).isEmpty();
            assertThat(await(late, 0, 1)).as("it has not searched").isEmpty();
        }
    }

    private WorkAvailability.Watch searched(UUID workspace) {
        WorkAvailability.Watch watch = available.watch(workspace, Set.of("far.away")::contains, null);
        assertThat(watch.news()).isTrue();
        return watch;
    }

    private List<StepAssignment> await(WorkAvailability.Watch claim, long millis, int slots)
            throws InterruptedException {
        claim.await(millis, offer(slots));
        return claim.withdraw();
    }

    private WorkAvailability.Offer offer(int slots) {
        return new WorkAvailability.Offer("w1", LEASE, slots, Set.of(), "unversioned", gone::get);
    }

    private RemoteSlot awaitSlot() {
        return Awaitility.await().atMost(30, TimeUnit.SECONDS).pollInterval(1, TimeUnit.MILLISECONDS)
                .until(() -> available.take(OURS, "far.away", null), Objects::nonNull);
    }

    private static StepAssignment step() {
        return new StepAssignment(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID(), "far.away", "{}", 1, 1,
                Instant.EPOCH, Instant.EPOCH, "key", null, null, null);
    }

    private static List<Boolean> news(List<WorkAvailability.Watch> watches) {
        return watches.stream().map(WorkAvailability.Watch::news).toList();
    }

    private static QueueItem item(UUID workspace, String tool) {
        return new QueueItem(new Lane(UUID.randomUUID(), 0), UUID.randomUUID(), workspace, 100, tool, "{}",
                Instant.EPOCH, null, null, null, null, null, null);
    }
}
