package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.engine.store.QueueFloors.Extent;
import io.keelson.server.engine.store.QueueFloors.Floor;
import io.keelson.server.engine.store.QueueFloors.Queue;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class QueueFloorsTest {
    private static final UUID WORKSPACE = new UUID(1, 1);
    private static final Queue ECHO = new Queue(WORKSPACE, "echo", "", 100);
    private static final Queue OTHER = new Queue(new UUID(2, 2), "other", "m", 7);
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final long MILLI = 1_000_000L;
    private static final long MANY = 1_000;

    private final QueueFloors floors = new QueueFloors();
    private long nanos = Long.MAX_VALUE - 10_000 * MILLI;

    @Test
    void searchesAreWholeUntilASurveyReadsMuch() {
        assertThat(floors.bounded()).isFalse();
        survey(10, 12);
        assertThat(floors.bounded()).isFalse();
        assertThat(poll()).isEqualTo(Extent.WHOLE);
        pass(QueueFloors.SURVEY_INTERVAL);
        survey(10, MANY);
        assertThat(floors.bounded()).isTrue();
        assertThat(poll()).isEqualTo(Extent.BOUNDED);
        pass(Duration.ofMillis(10 * QueueFloors.SHARE));
        survey(10, 12);
        assertThat(floors.bounded()).as("the rows were vacuumed").isFalse();
    }

    @Test
    void manyQueuesWithRowsAreNoSignOfRemovedRows() {
        List<Floor> found = IntStream.range(0, 500)
                .mapToObj(i -> new Floor(new Queue(WORKSPACE, "tool" + i, "", 100), NOON)).toList();
        assertThat(floors.begin(nanos)).isEqualTo(Extent.SURVEY);
        floors.surveyed(found, NOON, 2_500, nanos, nanos);
        floors.end(Extent.SURVEY);
        assertThat(floors.bounded()).isFalse();
    }

    @Test
    void surveysTakeATwoHundredthOfTheTime() {
        survey(30, MANY);
        long ended = nanos;
        pass(Duration.ofMillis(30 * QueueFloors.SHARE - 1));
        assertThat(poll()).isEqualTo(Extent.BOUNDED);
        nanos = ended;
        pass(Duration.ofMillis(30 * QueueFloors.SHARE));
        survey(10_000, MANY);
        pass(QueueFloors.LONGEST_WAIT);
        assertThat(poll()).as("a slow one is repeated in time").isEqualTo(Extent.SURVEY);
    }

    @Test
    void aFloorIsRaisedByAPollAndLoweredByARow() {
        survey(1, MANY, new Floor(ECHO, NOON));
        assertThat(of(ECHO)).isEqualTo(NOON);

        assertThat(floors.begin(nanos)).isEqualTo(Extent.BOUNDED);
        floors.advanced(List.of(new Floor(ECHO, NOON.plusSeconds(9))), Set.of(), nanos);
        floors.end(Extent.BOUNDED);
        assertThat(of(ECHO)).isEqualTo(NOON.plusSeconds(9));

        floors.put(ECHO, NOON.plusSeconds(20), nanos);
        assertThat(of(ECHO)).isEqualTo(NOON.plusSeconds(9));
        floors.put(ECHO, NOON.minusSeconds(60), nanos);
        assertThat(of(ECHO)).as("a step that keeps its time").isEqualTo(NOON.minusSeconds(60));
    }

    /** The poll may have read before the row was committed. */
    @Test
    void aRowThatComesDuringAPollStaysAboveTheFloor() {
        survey(1, MANY, new Floor(ECHO, NOON));
        assertThat(floors.begin(nanos)).isEqualTo(Extent.BOUNDED);
        floors.put(ECHO, NOON.minusSeconds(60), nanos);
        floors.put(OTHER, NOON.minusSeconds(30), nanos);
        floors.advanced(List.of(new Floor(ECHO, NOON.plusSeconds(9))), Set.of(), nanos);
        floors.end(Extent.BOUNDED);
        assertThat(of(ECHO)).isEqualTo(NOON.minusSeconds(60));

        pass(Duration.ofSeconds(1));
        assertThat(floors.begin(nanos)).isEqualTo(Extent.SURVEY);
        floors.put(OTHER, NOON.minusSeconds(20), nanos);
        floors.surveyed(List.of(), NOON.plusSeconds(30), MANY, nanos - 1, nanos);
        floors.end(Extent.SURVEY);
        assertThat(of(ECHO)).isEqualTo(NOON.plusSeconds(30));
        assertThat(of(OTHER)).isEqualTo(NOON.minusSeconds(20));
    }

    @Test
    void aPollDuringAnotherOneChangesNothing() {
        survey(1, MANY, new Floor(ECHO, NOON));
        assertThat(floors.begin(nanos)).isEqualTo(Extent.BOUNDED);
        assertThat(poll()).isEqualTo(Extent.WHOLE);
        floors.put(ECHO, NOON.minusSeconds(60), nanos);
        floors.advanced(List.of(new Floor(ECHO, NOON.plusSeconds(9))), Set.of(), nanos);
        assertThat(of(ECHO)).isEqualTo(NOON.minusSeconds(60));
        floors.end(Extent.BOUNDED);
        assertThat(poll()).isEqualTo(Extent.BOUNDED);
    }

    @Test
    void aQueueIsKnownForAWhile() {
        floors.put(ECHO, NOON, nanos);
        survey(1, MANY, new Floor(OTHER, NOON));
        assertThat(floors.floors(null, List.of("echo", "other"))).hasSize(2);
        assertThat(floors.floors(WORKSPACE, List.of("echo", "other"))).extracting(Floor::queue).containsExactly(ECHO);
        assertThat(floors.floors(null, List.of("other"))).extracting(Floor::queue).containsExactly(OTHER);
        pass(QueueFloors.KEPT.plusSeconds(1));
        survey(1, MANY, new Floor(OTHER, NOON));
        assertThat(floors.floors()).extracting(Floor::queue).containsExactly(OTHER);
    }

    @Test
    void tooManyQueuesAreSearchedWhole() {
        survey(1, MANY);
        for (int i = 0; i < QueueFloors.MAX_QUEUES; i++) {
            floors.put(new Queue(WORKSPACE, "tool" + i, "", 100), NOON, nanos);
        }
        assertThat(floors.bounded()).isTrue();
        floors.put(ECHO, NOON, nanos);
        assertThat(floors.bounded()).isFalse();
        assertThat(floors.floors()).hasSize(1);
    }

    private Instant of(Queue queue) {
        return floors.floors().stream().filter(each -> each.queue().equals(queue)).findFirst().orElseThrow().from();
    }

    private Extent poll() {
        Extent extent = floors.begin(nanos);
        floors.end(extent);
        return extent;
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
    }

    private void survey(long millis, long blocks, Floor... found) {
        long began = nanos;
        assertThat(floors.begin(began)).isEqualTo(Extent.SURVEY);
        nanos += millis * MILLI;
        floors.surveyed(List.of(found), NOON, blocks, began, nanos);
        floors.end(Extent.SURVEY);
    }
}
