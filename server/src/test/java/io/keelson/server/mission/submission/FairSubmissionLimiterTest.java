package io.keelson.server.mission.submission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FairSubmissionLimiterTest {
    private static final int AT_ONCE = 2;

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(3).toNanos());
    private final FairSubmissionLimiter limiter = new FairSubmissionLimiter(AT_ONCE, nanos::get);
    private final UUID busy = UUID.randomUUID();
    private final UUID quiet = UUID.randomUUID();
    private final List<Thread> waiting = new ArrayList<>();

    @AfterEach
    void interruptWaitingThreads() throws InterruptedException {
        for (Thread each : waiting) {
            each.interrupt();
            each.join();
        }
    }

    @Test
    void singleWorkspaceIsNotLimited() throws Exception {
        for (int i = 0; i < 10 * AT_ONCE; i++) {
            var _ = limiter.enter(busy);
            assertThat(limiter.lines()).as("queues after %s permits", i + 1).isZero();
            nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        }
    }

    @Test
    void busyWorkspaceQueuesWhileTheOtherPasses() throws Exception {
        var _ = limiter.enter(quiet);
        List<FairSubmissionLimiter.Permit> turns = List.of(limiter.enter(busy), limiter.enter(busy));
        CompletableFuture<FairSubmissionLimiter.Permit> third = enterLater();
        CompletableFuture<FairSubmissionLimiter.Permit> fourth = enterLater();

        limiter.enter(quiet).close();
        assertThat(third).isNotDone();
        turns.getFirst().close();
        third.get(60, TimeUnit.SECONDS).close();
        fourth.get(60, TimeUnit.SECONDS).close();
    }

    @Test
    void workspaceIdleForFiveSecondsEndsTheLimit() throws Exception {
        var _ = limiter.enter(quiet);
        var _ = limiter.enter(busy);
        var _ = limiter.enter(busy);
        nanos.addAndGet(Duration.ofSeconds(5).toNanos());

        assertThat(limiter.enter(busy)).isNotNull();
    }

    @Test
    void queueIsRemovedWithItsLastThread() throws Exception {
        var _ = limiter.enter(quiet);
        List<FairSubmissionLimiter.Permit> turns = List.of(limiter.enter(busy), limiter.enter(busy));
        CompletableFuture<FairSubmissionLimiter.Permit> third = enterLater();
        CompletableFuture<FairSubmissionLimiter.Permit> givesUp = enterLater();
        waiting.getLast().interrupt();
        assertThatThrownBy(() -> givesUp.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);

        turns.forEach(FairSubmissionLimiter.Permit::close);
        assertThat(limiter.lines()).isEqualTo(1);
        third.get(60, TimeUnit.SECONDS).close();
        assertThat(limiter.lines()).isZero();
        for (int i = 0; i < 1_000; i++) {
            limiter.enter(UUID.randomUUID()).close();
        }
        assertThat(limiter.lines()).isZero();
    }

    @Test
    void concurrentEnterAndLeaveNeverExceedTheLimit() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        limiter.enter(quiet).close();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(threads.submit(() -> {
                    for (int turn = 0; turn < 1_000; turn++) {
                        try (FairSubmissionLimiter.Permit _ = limiter.enter(busy)) {
                            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                            limiter.enter(quiet).close();
                            inside.decrementAndGet();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
        }

        assertThat(most).hasValueBetween(1, AT_ONCE);
        assertThat(limiter.lines()).isZero();
    }

    /** Starts a thread that enters for the busy workspace, and returns when that thread waits in the queue. */
    private CompletableFuture<FairSubmissionLimiter.Permit> enterLater() {
        CompletableFuture<FairSubmissionLimiter.Permit> turn = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                turn.complete(limiter.enter(busy));
            } catch (InterruptedException e) {
                turn.completeExceptionally(e);
            }
        });
        waiting.add(thread);
        while (thread.getState() != Thread.State.WAITING) {
            assertThat(turn).isNotDone();
            Thread.onSpinWait();
        }
        return turn;
    }
}
