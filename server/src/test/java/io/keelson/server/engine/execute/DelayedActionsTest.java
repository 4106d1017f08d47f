package io.keelson.server.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DelayedActionsTest {
    private static final Duration LATER = Duration.ofHours(1);

    private final BlockingQueue<String> done = new LinkedBlockingQueue<>();
    private final DelayedActions delayed = new DelayedActions();

    @AfterEach
    void stop() {
        delayed.close();
    }

    @Test
    void actionsAreDoneInTheOrderOfTheirTimes() throws Exception {
        delayed.after(LATER, () -> done.add("never"));
        delayed.after(Duration.ofMillis(60), () -> done.add("last"));
        delayed.after(Duration.ofMillis(30), () -> done.add("second"));
        delayed.after(Duration.ofMillis(-1), () -> done.add("first"));
        assertThat(List.of(done.take(), done.take(), done.take())).containsExactly("first", "second", "last");
        assertThat(delayed.size()).isOne();
    }

    @Test
    void aCancelledActionIsNotDone() throws Exception {
        DelayedActions.Handle cancelled = delayed.after(Duration.ofMillis(50), () -> done.add("cancelled"));
        delayed.after(Duration.ofMillis(100), () -> done.add("kept"));
        cancelled.close();
        assertThat(done.take()).isEqualTo("kept");
        cancelled.close();
        assertThat(delayed.size()).isZero();
    }

    @Test
    void aFailureDoesNotConcernTheNextAction() throws Exception {
        delayed.after(Duration.ZERO, () -> {
            throw new IllegalStateException("a defect");
        });
        delayed.after(Duration.ofMillis(10), () -> done.add("next"));
        assertThat(done.take()).isEqualTo("next");
    }

    @Test
    void actionsEndWithTheClose() {
        delayed.after(LATER, () -> done.add("never"));
        delayed.close();
        delayed.after(Duration.ZERO, () -> done.add("never"));
        assertThat(delayed.size()).isZero();
        Awaitility.await().until(() -> !delayed.thread().isAlive());
        assertThat(done).isEmpty();
    }

    /** Each step of a run that is alone has a timeout, and ends long before it. */
    @Test
    void actionsThatAreCancelledInTimeDoNotWakeTheThread() throws Exception {
        DelayedActions.Handle first = delayed.after(LATER, () -> {});
        Thread thread = delayed.thread();
        Awaitility.await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        first.close();
        long before = waits(thread);
        IntStream.range(0, 10).forEach(_ -> {
            DelayedActions.Handle handle = delayed.after(LATER, () -> {});
            Awaitility.await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
            handle.close();
        });
        delayed.after(Duration.ZERO, () -> done.add("done"));
        assertThat(done.poll(30, TimeUnit.SECONDS)).isEqualTo("done");
        Awaitility.await().until(() -> thread.getState() == Thread.State.WAITING);
        assertThat(waits(thread)).isLessThan(before + 10);
    }

    private static long waits(Thread thread) {
        return ManagementFactory.getThreadMXBean().getThreadInfo(thread.threadId()).getWaitedCount();
    }
}
