package io.keelson.server.api.http.streams;

import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.WentBack;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import tools.jackson.databind.node.ObjectNode;

/**
 * One client of a stream of server-sent events. The stream ends with its source, after the client's {@code wait_ms} without an
 * event, when the client's key is revoked, when the server stops, and with an event {@code error} when the database went back.
 */
final class SseStream {

    /** Maximum time of a source's wait, after which the API key is checked. */
    static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration KEY_CHECK = Duration.ofMillis(900);
    /** Time after which a silent stream sends a keep-alive. */
    static final Duration BEAT = Duration.ofSeconds(5);
    static final byte[] ALIVE = ":\n\n".getBytes(StandardCharsets.UTF_8);
    /** When a client whose stream broke off comes again. */
    private static final byte[] RETRY = "retry: 1000\n\n".getBytes(StandardCharsets.UTF_8);

    /** The result of a look for events. */
    enum Sent {
        EVENTS, NONE, LAST
    }

    /** The events of a stream. Used by one thread. */
    interface Source extends AutoCloseable {

        /** Sends the events that exist. */
        Sent send() throws IOException, InterruptedException;

        /** Waits until there may be further events, or the time is over. */
        void await(Duration atMost) throws InterruptedException;

        /** The keep-alive. */
        default byte[] alive() {
            return ALIVE;
        }

        @Override
        void close();
    }

    private final Streams streams;
    private final ApiRequest request;
    private final OutputStream out;
    private long wroteAt;

    SseStream(Streams streams, ApiRequest request, OutputStream out) {
        this.streams = streams;
        this.request = request;
        this.out = out;
    }

    /** @param wait longest time without an event */
    void follow(Source source, Duration wait) throws IOException, InterruptedException {
        write(RETRY);
        long checkedAt = System.nanoTime();
        long eventAt = checkedAt;
        boolean open = open();
        while (open) {
            DatabaseLoss loss = streams.loss();
            if (loss != null) {
                end(WentBack.problem(loss));
                return;
            }
            Sent sent = source.send();
            long now = System.nanoTime();
            eventAt = sent == Sent.NONE ? eventAt : now;
            Duration left = wait.minusNanos(now - eventAt);
            if (sent == Sent.LAST || !left.isPositive()) {
                return;
            }
            source.await(left.compareTo(PAUSE) < 0 ? left : PAUSE);
            if (System.nanoTime() - wroteAt >= BEAT.toNanos()) {
                write(source.alive());
            }
            boolean check = System.nanoTime() - checkedAt >= KEY_CHECK.toNanos();
            checkedAt = check ? System.nanoTime() : checkedAt;
            open = check ? open() : !streams.stopping();
        }
    }

    /** Whether the server runs and the key is valid. Sources check it for every chunk: catching up may take hours. */
    boolean open() throws InterruptedException {
        return !streams.stopping() && streams.keyIsValid(request);
    }

    void event(String id, ObjectNode data) throws IOException {
        write(EventTexts.text(id, data));
    }

    /** Has no id, so that a client continues after the last event that it received. */
    private void end(ApiProblem problem) throws IOException {
        write(("event: error\ndata: " + problem.document() + "\n\n").getBytes(StandardCharsets.UTF_8));
    }

    void write(byte[] text) throws IOException {
        out.write(text);
        out.flush();
        wroteAt = System.nanoTime();
    }

    /** Sends events together. */
    void write(Iterable<byte[]> texts) throws IOException {
        for (byte[] text : texts) {
            out.write(text);
        }
        out.flush();
        wroteAt = System.nanoTime();
    }
}
