package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.engine.store.read.RunReader.Progress;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;

/**
 * Streams of a run's events (server-sent events, the HTML standard). A stream resumes after the last received event, by the
 * number of the last event that was seen; it ends behind the last event of a run that has ended.
 */
public final class EventStreams {

    /** Interval at which an idle stream checks its API key. */
    static final Duration KEY_CHECK = Duration.ofSeconds(1);
    /** Interval at which an idle stream sends a keep-alive. */
    static final Duration BEAT = Duration.ofSeconds(5);
    static final byte[] ALIVE = ":\n\n".getBytes(StandardCharsets.UTF_8);
    /** When a client whose stream broke off comes again. */
    static final byte[] RETRY = "retry: 1000\n\n".getBytes(StandardCharsets.UTF_8);
    private static final long LONGEST_MILLIS = Duration.ofDays(365).toMillis();
    /** Sent to a client that reconnects after the end, so that it stops. */
    static final int NO_CONTENT = 204;

    private final Reads reads;
    private final RunProgressPoller news;
    private final Authenticator authenticator;
    private final ShutdownSignal shutdown;
    private final StreamLimiter limiter;
    private final StreamReads streamReads;
    private final EventChunkCache texts = new EventChunkCache();

    public EventStreams(Reads reads, Authenticator authenticator, ShutdownSignal shutdown, StreamLimiter limiter,
            StreamReads streamReads) {
        this.reads = reads;
        this.authenticator = authenticator;
        this.shutdown = shutdown;
        this.limiter = limiter;
        this.streamReads = streamReads;
        this.news = new RunProgressPoller(runs -> reads.read((reader, c) -> reader.progress(c, runs)), shutdown);
    }

    /** Polls for all followers. */
    public BackgroundTask task() {
        return news.task();
    }

    /** Polls how far watched runs have come. */
    public RunProgressPoller progress() {
        return news;
    }

    public void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/events/stream", this::ofRun);
    }

    private ApiResponse ofRun(ApiRequest request) throws InterruptedException {
        UUID run = request.id("id", IdKind.RUN);
        Query query = request.query();
        long after = query.integer("after", 0);
        Duration wait = longest(request);
        long seen = Math.max(after, lastSeen(request, 0));
        Progress known = streamReads.once(() -> reads.read((reader, c) -> Reads.found(
                reader.progress(c, request.workspace(), run), IdKind.RUN, run)));
        if (known.ended() && known.lastSeq() <= seen) {
            return ApiResponse.empty(NO_CONTENT);
        }
        limiter.requireRoom(request);
        // an id above the run's last event, for example of another stream, skips no later event
        long from = Math.min(seen, known.lastSeq());
        return stream(out -> send(new Reader(request, run, out, from), known, wait));
    }

    /** Sends events as they come, past caches and buffers of proxies. */
    static ApiResponse stream(ApiResponse.Writer events) {
        return ApiResponse.live("text/event-stream", events).header("Cache-Control", "no-cache")
                .header("X-Accel-Buffering", "no");
    }

    /** How long the client follows at most without an event. */
    static Duration longest(ApiRequest request) {
        return Duration.ofMillis(Math.min(request.query().integer("wait_ms", Long.MAX_VALUE), LONGEST_MILLIS));
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

    private void send(Reader reader, Progress known, Duration wait) throws IOException, InterruptedException {
        try (StreamLimiter.Place _ = limiter.take(reader.request);
                RunProgressPoller.Watch watch = news.watch(reader.run, known)) {
            reader.write(RETRY);
            follow(reader, known, watch, wait);
        }
    }

    private void follow(Reader reader, Progress before, RunProgressPoller.Watch watch, Duration wait)
            throws IOException, InterruptedException {
        Progress known = before;
        Duration quiet = Duration.ZERO;
        Duration silent = Duration.ZERO;
        while (!shutdown.hasBegun() && reader.open()) {
            if (known.lastSeq() > reader.seen) {
                reader.sendUpTo(known.lastSeq());
                quiet = Duration.ZERO;
                silent = Duration.ZERO;
            }
            Duration left = wait.minus(quiet);
            if (known.ended() || !left.isPositive()) {
                return;
            }
            Duration pause = left.compareTo(KEY_CHECK) < 0 ? left : KEY_CHECK;
            known = watch.await(reader.seen, pause);
            if (known.lastSeq() <= reader.seen) {
                quiet = quiet.plus(pause);
                silent = silent.plus(pause);
                if (silent.compareTo(BEAT) >= 0) {
                    reader.write(ALIVE);
                    silent = Duration.ZERO;
                }
            }
        }
    }

    /** One client of a run's event stream. */
    private final class Reader {
        private final ApiRequest request;
        private final UUID run;
        private final OutputStream out;
        private long seen;

        private Reader(ApiRequest request, UUID run, OutputStream out, long seen) {
            this.request = request;
            this.run = run;
            this.out = out;
            this.seen = seen;
        }

        private void write(byte[] text) throws IOException {
            out.write(text);
            out.flush();
        }

        /** Checked for every chunk: catching up may take hours, and the key be revoked meanwhile. */
        private boolean open() throws InterruptedException {
            return streamReads.patiently(() -> authenticator.stillOpenTo(request));
        }

        private void sendUpTo(long last) throws IOException, InterruptedException {
            while (seen < last && !shutdown.hasBegun() && open()) {
                EventChunkCache.Part part = texts.of(run, seen, EventChunkCache.end(seen, last),
                        (id, after, limit) -> streamReads.patiently(() -> reads.read((reader, c) -> reader
                                .eventsWithSteps(c, request.workspace(), id, after, limit))));
                for (byte[] text : part.texts()) {
                    out.write(text);
                }
                out.flush();
                seen = part.to();
            }
        }
    }
}
