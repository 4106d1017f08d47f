package io.keelson.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class TurnstileTest {
    private static final int AT_ONCE = 2;

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(3).toNanos());
    private final Turnstile turnstile = new Turnstile(AT_ONCE, nanos::get);
    private final UUID busy = UUID.randomUUID();
    private final UUID quiet = UUID.randomUUID();
    private final List<Thread> waiting = new ArrayList<>();

    @AfterEach
    void nobodyIsLeftWaiting() throws InterruptedException {
        for (Thread each : waiting) {
            each.interrupt();
            each.join();
        }
    }

    @Test
    void whoIsAlonePassesFreely() throws Exception {
        for (int i = 0; i < 10 * AT_ONCE; i++) {
            var _ = turnstile.enter(busy);
            nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        }
    }

    @Test
    void besideAnotherOneWaitsInLineAndTheOtherDoesNot() throws Exception {
        var _ = turnstile.enter(quiet);
        List<Turnstile.Turn> turns = List.of(turnstile.enter(busy), turnstile.enter(busy));
        CompletableFuture<Turnstile.Turn> third = enterLater();
        CompletableFuture<Turnstile.Turn> fourth = enterLater();

        turnstile.enter(quiet).close();
        assertThat(third).isNotDone();
        turns.getFirst().close();
        third.get(10, TimeUnit.SECONDS).close();
        fourth.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void whoHasNotComeForAWhileIsNotReckonedWith() throws Exception {
        var _ = turnstile.enter(quiet);
        var _ = turnstile.enter(busy);
        var _ = turnstile.enter(busy);
        nanos.addAndGet(Duration.ofSeconds(5).toNanos());

        assertThat(turnstile.enter(busy)).isNotNull();
    }

    /** Comes when it is in the line. */
    private CompletableFuture<Turnstile.Turn> enterLater() {
        CompletableFuture<Turnstile.Turn> turn = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                turn.complete(turnstile.enter(busy));
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
