package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A request that was sent to a provider, and the part of its answer that has arrived. Read to its end also when its client is gone; further
 * clients with the same request join it.
 */
final class Exchange {
    private final UUID id;
    private final boolean streamed;
    private final List<byte[]> events = new ArrayList<>();
    private int passing;
    private @Nullable JsonNode answer;
    private @Nullable GatewayError error;
    private long maxOutput;

    /** @param streamed whether the provider streams the answer */
    Exchange(UUID id, boolean streamed) {
        this.id = id;
        this.streamed = streamed;
    }

    /** Events that have passed since an earlier read. */
    record News(List<byte[]> events, boolean ended) {}

    UUID id() {
        return id;
    }

    boolean streamed() {
        return streamed;
    }

    /** The output that is paid, if the program requests more; else 0. */
    synchronized long maxOutput() {
        return maxOutput;
    }

    synchronized void lower(long tokens) {
        maxOutput = tokens;
    }

    /** Adds an event, which passes unless it is held until the end. */
    synchronized void add(byte[] event, boolean held) {
        events.add(event);
        if (!held) {
            passing = events.size();
            notifyAll();
        }
    }

    /** The answer is recorded. */
    synchronized void record(JsonNode whole) {
        answer = whole;
        passing = events.size();
        notifyAll();
    }

    /** No answer comes. */
    synchronized void fail(GatewayError reason) {
        error = reason;
        notifyAll();
    }

    /**
     * Waits for the first event of a stream, or for the end.
     *
     * @throws GatewayError if there is no answer
     */
    synchronized void awaitBeginning() throws GatewayError, InterruptedException {
        while (answer == null && error == null && passing == 0) {
            wait();
        }
        if (error != null && passing == 0) {
            throw error;
        }
    }

    /**
     * Waits for the recorded answer.
     *
     * @throws GatewayError if there is none
     */
    synchronized JsonNode await() throws GatewayError, InterruptedException {
        while (answer == null && error == null) {
            wait();
        }
        if (answer == null) {
            throw error;
        }
        return answer;
    }

    /**
     * Further events, at the latest after the time.
     *
     * @throws GatewayError if the answer has broken off
     */
    synchronized News after(int known, Duration atMost) throws GatewayError, InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        long left = atMost.toMillis();
        while (passing <= known && answer == null && error == null && left > 0) {
            wait(left);
            left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        }
        if (error != null) {
            throw error;
        }
        return new News(List.copyOf(events.subList(Math.min(known, passing), passing)), answer != null);
    }
}
