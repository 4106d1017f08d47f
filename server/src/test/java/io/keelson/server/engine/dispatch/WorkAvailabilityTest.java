package io.keelson.server.engine.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.server.tool.SlotKind;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class WorkAvailabilityTest {
    private static final long LONG_MILLIS = TimeUnit.HOURS.toMillis(1);
    private static final UUID OURS = new UUID(0, 1);
    private static final UUID THEIRS = new UUID(0, 2);

    private final WorkAvailability available = new WorkAvailability("noop"::equals, tool -> SlotKind.COMPUTING);

    @Test
    @Timeout(20)
    void stepQueuedAfterAVainSearchAndBeforeTheWaitEndsTheWait() throws Exception {
        try (WorkAvailability.Watch claim = available.watch(OURS, Set.of("far.away")::contains)) {
            assertThat(claim.news()).isTrue();
            // here the claim searches and finds nothing
            available.queued(List.of(item(OURS, "far.away")));
            claim.await(LONG_MILLIS);
            assertThat(claim.news()).isTrue();
            assertThat(claim.news()).as("one search for one step").isFalse();
        }
    }

    @Test
    void stepWakesOnlySearchesThatCanFindIt() {
        try (WorkAvailability.Watch ours = available.watch(OURS, Set.of("far.away", "other")::contains);
                WorkAvailability.Watch theirs = available.watch(THEIRS, Set.of("far.away")::contains);
                WorkAvailability.Watch others = available.watch(OURS, Set.of("other")::contains)) {
            List<WorkAvailability.Watch> all = List.of(ours, theirs, others, available.here());
            assertThat(news(all)).containsOnly(true);

            available.queued(List.of(item(OURS, "far.away")));
            assertThat(news(all)).containsExactly(true, false, false, false);

            available.queued(List.of(item(THEIRS, "noop"), item(OURS, "other")));
            assertThat(news(all)).containsExactly(true, false, true, true);
            assertThat(available.queuedHere(SlotKind.COMPUTING)).isEqualTo(1);

            available.slotFreed(SlotKind.COMPUTING);
            assertThat(news(all)).containsExactly(false, false, false, true);

            available.signal();
            assertThat(news(all)).containsOnly(true);
        }
    }

    @Test
    void workHeldBackByALimitIsSearchedAgainWhenALaneIsFree() {
        try (WorkAvailability.Watch claim = available.watch(OURS, Set.of("far.away")::contains)) {
            assertThat(claim.news()).isTrue();
            available.laneFreed();
            assertThat(claim.news()).isFalse();
            available.heldBack();
            available.laneFreed();
            assertThat(claim.news()).isTrue();
        }
    }

    private static List<Boolean> news(List<WorkAvailability.Watch> watches) {
        return watches.stream().map(WorkAvailability.Watch::news).toList();
    }

    private static QueueItem item(UUID workspace, String tool) {
        return new QueueItem(new Lane(UUID.randomUUID(), 0), UUID.randomUUID(), workspace, 100, tool, "{}",
                Instant.EPOCH,
                null, null, null, null);
    }
}
