package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.engine.store.QueueFloors.Floor;
import io.keelson.server.engine.store.QueueFloors.Look;
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
        assertThat(look()).isEqualTo(Look.WHOLE);
        pass(QueueFloors.SURVEY_INTERVAL);
        survey(10, MANY);
        assertThat(floors.bounded()).isTrue();
        assertThat(look()).isEqualTo(Look.BOUNDED);
        pass(Duration.ofMillis(10 * QueueFloors.SHARE));
        survey(10, 12);
        assertThat(floors.bounded()).as("the rows were vacuumed").isFalse();
    }

    @Test
    void manyQueuesWithRowsAreNoSignOfRemovedRows() {
        List<Floor> found = IntStream.range(0, 500)
                .mapToObj(i -> new Floor(new Queue(WORKSPACE, "tool" + i, "", 100), NOON)).toList();
        assertThat(floors.begin(nanos)).isEqualTo(Look.SURVEY);
        floors.surveyed(found, NOON, 2_500, nanos, nanos);
        floors.end(Look.SURVEY);
        assertThat(floors.bounded()).isFalse();
    }

    @Test
    void surveysTakeATwoHundredthOfTheTime() {
        survey(30, MANY);
        long ended = nanos;
        pass(Duration.ofMillis(30 * QueueFloors.SHARE - 1));
        assertThat(look()).isEqualTo(Look.BOUNDED);
        nanos = ended;
        pass(Duration.ofMillis(30 * QueueFloors.SHARE));
        survey(10_000, MANY);
        pass(QueueFloors.LONGEST_WAIT);
        assertThat(look()).as("a slow one is repeated in time").isEqualTo(Look.SURVEY);
    }

    @Test
    void aFloorIsRaisedByALookAndLoweredByARow() {
        survey(1, MANY, new Floor(ECHO, NOON));
        assertThat(of(ECHO)).isEqualTo(NOON);

        assertThat(floors.begin(nanos)).isEqualTo(Look.BOUNDED);
        floors.advanced(List.of(new Floor(ECHO, NOON.plusSeconds(9))), Set.of(), nanos);
        floors.end(Look.BOUNDED);
        assertThat(of(ECHO)).isEqualTo(NOON.plusSeconds(9));

        floors.put(ECHO, NOON.plusSeconds(20), nanos);
        assertThat(of(ECHO)).isEqualTo(NOON.plusSeconds(9));
        floors.put(ECHO, NOON.minusSeconds(60), nanos);
        assertThat(of(ECHO)).as("a step that keeps its time").isEqualTo(NOON.minusSeconds(60));
    }

    /** The look may have read before the row was committed. */
    @Test
    void aRowThatComesDuringALookStaysAboveTheFloor() {
        survey(1, MANY, new Floor(ECHO, NOON));
        assertThat(floors.begin(nanos)).isEqualTo(Look.BOUNDED);
        floors.put(ECHO, NOON.minusSeconds(60), nanos);
        floors.put(OTHER, NOON.minusSeconds(30), nanos);
        floors.advanced(List.of(new Floor(ECHO, NOON.plusSeconds(9))), Set.of(), nanos);
        floors.end(Look.BOUNDED);
        assertThat(of(ECHO)).isEqualTo(NOON.minusSeconds(60));

        pass(Duration.ofSeconds(1));
        assertThat(floors.begin(nanos)).isEqualTo(Look.SURVEY);
        floors.put(OTHER, NOON.minusSeconds(20), nanos);
        floors.surveyed(List.of(), NOON.plusSeconds(30), MANY, nanos - 1, nanos);
        floors.end(Look.SURVEY);
        assertThat(of(ECHO)).isEqualTo(NOON.plusSeconds(30));
        assertThat(of(OTHER)).isEqualTo(NOON.minusSeconds(20));
    }

    @Test
    void aLookBesideAnotherOneChangesNothing() {
        survey(1, MANY, new Floor(ECHO, NOON));
        assertThat(floors.begin(nanos)).isEqualTo(Look.BOUNDED);
        assertThat(look()).isEqualTo(Look.WHOLE);
        floors.put(ECHO, NOON.minusSeconds(60), nanos);
        floors.advanced(List.of(new Floor(ECHO, NOON.plusSeconds(9))), Set.of(), nanos);
        assertThat(of(ECHO)).isEqualTo(NOON.minusSeconds(60));
        floors.end(Look.BOUNDED);
        assertThat(look()).isEqualTo(Look.BOUNDED);
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
        for (int i = 0; i < QueueFloors.MOST; i++) {
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

    private Look look() {
        Look look = floors.begin(nanos);
        floors.end(look);
        return look;
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
    }

    private void survey(long millis, long blocks, Floor... found) {
        long began = nanos;
        assertThat(floors.begin(began)).isEqualTo(Look.SURVEY);
        nanos += millis * MILLI;
        floors.surveyed(List.of(found), NOON, blocks, began, nanos);
        floors.end(Look.SURVEY);
    }
}
