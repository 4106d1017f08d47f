package io.keelson.server.base.background;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BackgroundTaskTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private final AtomicInteger runs = new AtomicInteger();
    private final Semaphore begun = new Semaphore(0);
    private final Semaphore proceed = new Semaphore(0);

    /** Waits inside the step until the test lets it go on. */
    private void held() throws InterruptedException {
        runs.incrementAndGet();
        begun.release();
        proceed.acquire();
    }

    private void await(Semaphore semaphore) throws InterruptedException {
        assertThat(semaphore.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void nudgesDuringARunCauseOneRunTogether() throws Exception {
        try (BackgroundTask task = BackgroundTask.onNudge("held", this::held)) {
            task.nudge();
            await(begun);
            for (int i = 0; i < 100; i++) {
                task.nudge();
            }
            proceed.release();
            await(begun);
            task.nudge();
            proceed.release();
            await(begun);
            proceed.release(100);
        }
        assertThat(runs).hasValue(3);
    }

    @Test
    void closeWaitsForTheRunAndStartsNoOther() throws Exception {
        BackgroundTask task = BackgroundTask.onNudge("held", this::held);
        task.nudge();
        await(begun);
        task.nudge();
        CountDownLatch closed = new CountDownLatch(1);
        Thread closing = Thread.ofVirtual().start(() -> {
            try {
                task.close();
                closed.countDown();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        while (!task.isClosed()) {
            Thread.onSpinWait();
        }
        assertThat(closed.getCount()).isEqualTo(1);
        proceed.release(2);
        closing.join();
        task.nudge();
        assertThat(closed.getCount()).isZero();
        assertThat(runs).hasValue(1);
    }

    @Test
    void stepSetsTheDelayOfItsNextRun() throws Exception {
        LinkedBlockingQueue<Duration> delays = new LinkedBlockingQueue<>();
        delays.add(Duration.ZERO);
        delays.add(Duration.ofMillis(1));
        delays.add(BackgroundTask.ON_NUDGE);
        try (BackgroundTask task = BackgroundTask.paced("paced", HOUR, () -> {
            runs.incrementAndGet();
            begun.release();
            return delays.remove();
        }).start()) {
            assertThat(runs).as("the first run comes after the period").hasValue(0);
            task.nudge();
            for (int i = 0; i < 3; i++) {
                await(begun);
            }
        }
        assertThat(runs).hasValue(3);
    }

    @Test
    void firstRunMayPrecedeThePeriod() throws Exception {
        try (BackgroundTask task = BackgroundTask.every("early", HOUR, () -> {
            runs.incrementAndGet();
            begun.release();
        }).startWithin(Duration.ofMillis(1))) {
            await(begun);
            assertThat(task.period()).isEqualTo(HOUR);
        }
        assertThat(runs).hasValue(1);
    }

    @Test
    void failedRunIsRepeatedBeforeALongPeriodEnds() throws Exception {
        try (BackgroundTask task = BackgroundTask.every("failing", HOUR, () -> {
            begun.release();
            if (runs.getAndIncrement() == 0) {
                throw new AssertionError("as a test has it");
            }
        })) {
            task.nudge();
            await(begun);
            await(begun);
        }
    }

    @Test
    void runOnceThrowsWhatTheStepThrows() {
        assertThatThrownBy(BackgroundTask.onNudge("failing", () -> {
            throw new IllegalStateException("as a test has it");
        })::runOnce).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void statisticsCountRunsAndFailures() throws Exception {
        BackgroundTask task = BackgroundTask.onNudge("counted", () -> {
            if (runs.getAndIncrement() > 0) {
                throw new IllegalStateException("as a test has it");
            }
        });
        task.runOnce();
        Duration afterSuccess = task.statistics().sinceSuccess();
        assertThatThrownBy(task::runOnce).isInstanceOf(IllegalStateException.class);

        assertThat(task.statistics().runs()).isEqualTo(2);
        assertThat(task.statistics().failures()).isEqualTo(1);
        assertThat(task.statistics().lastDuration()).isPositive();
        assertThat(task.statistics().sinceSuccess()).isGreaterThan(afterSuccess);
    }
}
