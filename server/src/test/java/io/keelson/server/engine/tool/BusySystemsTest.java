package io.keelson.server.engine.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.server.engine.tool.BusySystems.Pass;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BusySystemsTest {
    private static final String SMALL = "model:small";

    /** Near the end of its range, as a monotonic clock may be. */
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final BusySystems systems = new BusySystems(nanos::get);

    private Pass enter() throws InterruptedException {
        return systems.enter(SMALL, "MODEL_UNAVAILABLE");
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private Duration refused() {
        HandBackException refused = catchThrowableOfType(HandBackException.class, this::enter);
        assertThat(refused.busy()).isNotNull();
        assertThat(refused.busy().system()).isEqualTo(SMALL);
        assertThat(refused.busy().code()).isEqualTo("MODEL_UNAVAILABLE");
        return refused.busy().delay();
    }

    private CompletableFuture<Pass> entering() {
        CompletableFuture<Pass> entered = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                entered.complete(enter());
            } catch (InterruptedException | RuntimeException e) {
                entered.completeExceptionally(e);
            }
        });
        return entered;
    }

    @Test
    void nothingPassesBeforeTheTimeThatTheSystemAskedFor() throws Exception {
        Pass first = enter();
        assertThat(first.busy(Duration.ofSeconds(7), "slow down").busy().delay()).isEqualTo(Duration.ofSeconds(7));
        first.close();
        pass(Duration.ofSeconds(6));
        assertThat(refused()).isEqualTo(Duration.ofSeconds(1));
        assertThat(systems.closed(SMALL)).isEqualTo(Duration.ofSeconds(1));
        assertThat(systems.closed("model:other")).isZero();
        systems.enter("model:other", "X").close();
        pass(Duration.ofSeconds(1));
        enter().close();
        assertThat(systems.closed(SMALL)).isZero();
    }

    @Test
    void oneProbePassesAndThenAll() throws Exception {
        enter().busy(Duration.ofSeconds(7), "slow down");
        pass(Duration.ofSeconds(7));
        Pass probe = enter();
        List<CompletableFuture<Pass>> others = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            others.add(entering());
        }
        assertThat(others).noneMatch(CompletableFuture::isDone);
        probe.close();
        others.forEach(each -> each.join().close());
    }

    @Test
    void probeOfABusySystemStopsWaitingSteps() throws Exception {
        enter().busy(Duration.ofSeconds(7), "slow down");
        pass(Duration.ofSeconds(7));
        Pass probe = enter();
        CompletableFuture<Pass> other = entering();
        probe.busy(Duration.ofSeconds(9), "slow down");
        probe.close();
        assertThatThrownBy(other::join).isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(HandBackException.class);
        assertThat(refused()).isEqualTo(Duration.ofSeconds(9));
    }

    @Test
    void callThatBeganBeforeChangesNothingByItsSuccess() throws Exception {
        Pass slow = enter();
        enter().busy(Duration.ofSeconds(7), "slow down");
        slow.close();
        assertThat(refused()).isEqualTo(Duration.ofSeconds(7));
        Pass late = enterAfter(Duration.ofSeconds(7));
        slow.busy(Duration.ofSeconds(2), "slow down");
        assertThat(refused()).as("the earlier call is no probe").isEqualTo(Duration.ofSeconds(2));
        late.close();
    }

    private Pass enterAfter(Duration time) throws InterruptedException {
        pass(time);
        return enter();
    }

    @ParameterizedTest
    @CsvSource({"0, 1, 1", "1, 2, 2", "2, 4, 4", "7, 60, 60", "0, 0.05, 1", "0, 30, 30"})
    void delayGrowsWithEachProbeAndIsNeverShorterThanAskedFor(int probes, double retryAfter, long expected)
            throws Exception {
        Pass pass = enter();
        for (int i = 0; i < probes; i++) {
            pass.busy(null, "busy");
            pass = enterAfter(Duration.ofMinutes(1));
        }
        assertThat(pass.busy(Duration.ofMillis((long) (retryAfter * 1000)), "busy").busy().delay())
                .isEqualTo(Duration.ofSeconds(expected));
    }

    @Test
    void absurdTimeEndsAfterFiveMinutes() throws Exception {
        Duration most = Duration.ofMinutes(5);
        assertThat(enter().busy(Duration.ofSeconds(999_999_999_999L), "busy").busy().delay()).isEqualTo(most);
        assertThat(refused()).isEqualTo(most);
        enterAfter(most).close();
        enter().close();
    }

    @Test
    void waitForAProbeIsInterruptible() throws Exception {
        enter().busy(null, "busy");
        try (Pass _ = enterAfter(Duration.ofSeconds(1))) {
            Thread waits = new Thread(() -> {
                try {
                    enter();
                } catch (InterruptedException | HandBackException e) {
                    Thread.currentThread().interrupt();
                }
            });
            waits.start();
            Awaitility.await().until(() -> waits.getState() == Thread.State.TIMED_WAITING);
            waits.interrupt();
            assertThat(waits.join(Duration.ofSeconds(60))).isTrue();
        }
    }
}
