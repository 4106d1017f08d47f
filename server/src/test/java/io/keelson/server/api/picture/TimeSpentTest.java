package io.keelson.server.api.picture;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.picture.Stretch.Kind;
import io.keelson.server.api.picture.TimeSpent.Idle;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TimeSpentTest {

    private static Stretch stretch(Kind kind, long from, long to) {
        return new Stretch(kind, from, to, false);
    }

    @Test
    void eachMomentCountsOnceAndWorkFirst() {
        TimeSpent spent = TimeSpent.of(List.of(stretch(Kind.PERSON, 10, 50), stretch(Kind.WORK, 20, 30),
                stretch(Kind.QUEUED, 25, 40), stretch(Kind.WORK, 22, 28)), 0, 60);
        assertThat(spent.millis()).isEqualTo(Map.of(Kind.WORK, 10L, Kind.QUEUED, 10L, Kind.PERSON, 20L));
        assertThat(spent.other()).isEqualTo(20);
    }

    @Test
    void timeInWhichNothingWorksOrIsQueuedIsIdle() {
        TimeSpent spent = TimeSpent.of(List.of(stretch(Kind.WORK, 0, 10), stretch(Kind.BACKOFF, 10, 20),
                stretch(Kind.PERSON, 20, 70), stretch(Kind.QUEUED, 70, 90), stretch(Kind.FAILED, 90, 95)), 0, 100);
        assertThat(spent.idle()).containsExactly(new Idle(10, 70), new Idle(95, 100));
    }

    @Test
    void timeOutsideIsCutOff() {
        TimeSpent spent = TimeSpent.of(List.of(stretch(Kind.WORK, -50, 5), stretch(Kind.TIMER, 8, 500)), 0, 10);
        assertThat(spent.millis()).isEqualTo(Map.of(Kind.WORK, 5L, Kind.TIMER, 2L));
        assertThat(spent.other()).isEqualTo(3);
    }
}
