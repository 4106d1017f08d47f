package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.policy.Rate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunTurnTest {

    private static final Instant NOON = Instant.parse("2026-07-01T12:00:00Z");
    private static final RunTurn.Key KEY = new RunTurn.Key(new UUID(0, 1), "mail");

    private static List<RunTurn> waiting(int count, Rate rate, Instant until, Instant now) {
        return IntStream.range(0, count).mapToObj(i -> new RunTurn(new UUID(1, i), KEY, rate, until, now)).toList();
    }

    @Test
    void runsWithoutARateAreAdmitted() {
        RunTurn.Admitted admitted = RunTurn.admit(waiting(3, null, null, NOON));

        assertThat(admitted.runs()).hasSize(3);
        assertThat(admitted.rates()).isEmpty();
        assertThat(admitted.next()).isNull();
    }

    @Test
    void rateAdmitsOneAndNamesTheTimeOfTheNext() {
        Rate rate = new Rate(6, 60);
        RunTurn.Admitted first = RunTurn.admit(waiting(3, rate, null, NOON));

        assertThat(first.runs()).containsExactly(new UUID(1, 0));
        assertThat(first.rates()).isEqualTo(Collections.singletonMap(KEY, NOON.plusSeconds(10)));
        assertThat(first.next()).isEqualTo(Duration.ofMillis(9_500));
        RunTurn.Admitted second = RunTurn.admit(waiting(2, rate, NOON.plusSeconds(10), NOON.plusSeconds(9)));
        assertThat(second.runs()).isEmpty();
        assertThat(second.next()).isEqualTo(Duration.ofMillis(500));
    }

    /** Two servers take turns, each up to 400 ms later than the rate allows. */
    @ParameterizedTest
    @CsvSource({"30, 60", "600, 60", "6000, 60", "10, 3600"})
    void serversThatShareARateKeepToItWithinTwoPercent(int limit, int seconds) {
        Random random = new Random(limit);
        Rate rate = new Rate(limit, seconds);
        Instant now = NOON;
        Instant until = null;
        int admitted = 0;
        int most = 1 + limit / (2 * seconds);
        while (admitted < 5_000) {
            RunTurn.Admitted turn = RunTurn.admit(waiting(most, rate, until, now));
            admitted += turn.runs().size();
            until = turn.rates().getOrDefault(KEY, until);
            now = now.plus(Objects.requireNonNull(turn.next())).plusMillis(random.nextInt(400));
        }

        double expected = Duration.between(NOON, now).toMillis() / 1e3 * limit / seconds;
        assertThat(admitted / expected).isBetween(0.98, 1.02);
    }
}
