package io.keelson.server.api.http.streams;

import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.api.http.support.WentBack;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.engine.store.read.RunReader.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens event streams (server-sent events, the HTML standard). Streams read the database with limited concurrency, so that they
 * cannot take all connections shared with other requests.
 */
public final class Streams {

    /** Sent to a client that reconnects after the end, so that it stops. */
    static final int NO_CONTENT = 204;
    private static final Logger LOG = LoggerFactory.getLogger(Streams.class);
    private static final int READS_AT_ONCE = 4;
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final long LONGEST_MILLIS = Duration.ofDays(365).toMillis();

    private final Reads reads;
    private final Authenticator authenticator;
    private final ShutdownSignal shutdown;
    private final DatabaseHistory history;
    private final StreamLimiter limiter = new StreamLimiter();
    private final Pace pace = new Pace();
    private final Semaphore permits = new Semaphore(READS_AT_ONCE, true);

    /** Opens the source of a client's stream. */
    interface Opening {
        SseStream.Source open(SseStream stream) throws IOException, InterruptedException;
    }

    public Streams(Reads reads, Authenticator authenticator, ShutdownSignal shutdown, DatabaseHistory history) {
        this.history = history;
        this.reads = reads;
        this.authenticator = authenticator;
        this.shutdown = shutdown;
    }

    /** Sends events as they come, past caches and buffers of proxies. Refuses a stream above the limits. */
    ApiResponse stream(ApiRequest request, Opening opening) {
        WentBack.require(history);
        limiter.requireRoom(request);
        Duration wait = Duration
                .ofMillis(Math.min(request.query().integer("wait_ms", Long.MAX_VALUE), LONGEST_MILLIS));
        return ApiResponse.live("text/event-stream", out -> {
            SseStream stream = new SseStream(this, request, out);
            try (StreamLimiter.Place _ = limiter.take(request)) {
                shutdown.await(pace.next(System.nanoTime()));
                try (SseStream.Source source = opening.open(stream)) {
                    stream.follow(source, wait);
                }
            }
        }).header("Cache-Control", "no-cache").header("X-Accel-Buffering", "no");
    }

    /** The event to resume after, as the client sends it. */
    static long lastSeen(ApiRequest request, long absent) {
        String id = request.header("Last-Event-ID");
        if (id == null || id.isEmpty()) {
            return absent;
        }
        if (!id.matches("\\d{1,18}")) {
            throw ApiProblem.of(ErrorCode.INVALID_PARAMETER,
                    "Last-Event-ID must be the number of an event of this stream, not " + Excerpt.piece(id));
        }
        return Long.parseLong(id);
    }

    Reads reads() {
        return reads;
    }

    Progress progress(ApiRequest request, UUID run) {
        return reads.read(
                (reader, c) -> Reads.found(reader.progress(c, request.workspace(), run), IdKind.RUN, run));
    }

    /** Adds a listener for changed events: the database went back. */
    void onChangedEvents(Runnable forget) {
        history.onChange(forget);
    }

    /** The loss of commits that ends streams; null if absent. */
    @Nullable DatabaseLoss loss() {
        return history.loss();
    }

    boolean stopping() {
        return shutdown.hasBegun();
    }

    boolean keyIsValid(ApiRequest request) throws InterruptedException {
        return patiently(() -> authenticator.stillOpenTo(request));
    }

    /** Reads once. */
    <T> T once(Supplier<T> question) throws InterruptedException {
        permits.acquire();
        try {
            return question.get();
        } finally {
            permits.release();
        }
    }

    /**
     * Reads until the database answers.
     *
     * @throws InterruptedException when the server stops meanwhile
     */
    <T> T patiently(Supplier<T> question) throws InterruptedException {
        while (true) {
            try {
                return once(question);
            } catch (SqlFailure failure) {
                if (!failure.unavailable()) {
                    throw failure;
                }
                LOG.debug("event stream is waiting for the database", failure);
            }
            if (shutdown.await(PAUSE)) {
                throw new InterruptedException("the server is stopping");
            }
        }
    }

    /**
     * The pace at which streams begin: some at once, the others one after another. Thousands of clients may come together, for example when a
     * server starts, and other requests need the processor meanwhile. Thread-safe.
     */
    static final class Pace {
        /** Streams that begin at once. */
        static final int AT_ONCE = 100;
        private static final int A_SECOND = 300;
        private static final long EACH = Duration.ofSeconds(1).toNanos() / A_SECOND;

        /** The time at which all streams so far have begun at the pace. */
        private long due;
        private boolean begun;

        /** The time until the next stream may begin, which takes its place. */
        synchronized Duration next(long nanos) {
            due = begun && due - nanos > 0 ? due + EACH : nanos + EACH;
            begun = true;
            return Duration.ofNanos(Math.max(0, due - nanos - AT_ONCE * EACH));
        }
    }
}
