package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import java.math.BigDecimal;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** Grants credits steadily, one grant after the other, and repeats each until a server confirms it. */
final class Grants implements AutoCloseable {
    /** Credits of each. */
    static final int AMOUNT = 3;

    private final IntFunction<Keelson> clients;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private int granted;

    /** @param clients who is asked the n-th time */
    Grants(IntFunction<Keelson> clients) {
        this.clients = clients;
        clock.scheduleWithFixedDelay(this::grant, 0, 100, TimeUnit.MILLISECONDS);
    }

    private void grant() {
        boolean booked = false;
        for (int node = granted; !booked && !Thread.interrupted(); node++) {
            try {
                clients.apply(node).credits().grant(new BigDecimal(AMOUNT), "a grant", "grant " + granted);
                booked = true;
            } catch (KeelsonException e) {
                // the other node is asked
            }
        }
        granted++;
    }

    /** Stops; returns how many were granted. */
    int stop() throws InterruptedException {
        clock.shutdown();
        assertThat(clock.awaitTermination(1, TimeUnit.MINUTES)).as("the last grant is confirmed").isTrue();
        return granted;
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
