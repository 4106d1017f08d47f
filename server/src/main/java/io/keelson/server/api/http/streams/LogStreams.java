package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.RunReader.Progress;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/**
 * Streams of a step's log lines and progress while it is executed (server-sent events). Lines have no events of the run, so they are
 * read from the database twice a second.
 */
public final class LogStreams {

    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int MAX_LINES = 500;

    private final Reads reads;
    private final Authenticator authenticator;
    private final ShutdownSignal shutdown;
    private final StreamLimiter limiter;
    private final StreamReads streamReads;
    private final RunProgressPoller progress;

    public LogStreams(Reads reads, Authenticator authenticator, ShutdownSignal shutdown, StreamLimiter limiter,
            StreamReads streamReads, RunProgressPoller progress) {
        this.reads = reads;
        this.authenticator = authenticator;
        this.shutdown = shutdown;
        this.limiter = limiter;
        this.streamReads = streamReads;
        this.progress = progress;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/steps/{id}/logs/stream", this::ofStep);
    }

    private ApiResponse ofStep(ApiRequest request) throws InterruptedException {
        UUID step = request.id("id", IdKind.STEP);
        long seen = Math.max(request.query().integer("after", 0), EventStreams.lastSeen(request, 0));
        Duration wait = EventStreams.longest(request);
        ObjectNode found = streamReads.once(() -> step(request, step));
        if (AnswerStreams.ended(found) && lines(request, step, seen).items().isEmpty()
                && request.header("Last-Event-ID") != null) {
            return ApiResponse.empty(EventStreams.NO_CONTENT);
        }
        limiter.requireRoom(request);
        UUID run = UUID.fromString(found.get("run_id").stringValue());
        return EventStreams.stream(out -> new Stream(request, run, step, out, seen).send(wait));
    }

    /** Without its values, which may be large: it is read again and again. */
    private ObjectNode step(ApiRequest request, UUID step) {
        return reads.read(
                (reader, c) -> Reads.found(reader.lightStep(c, request.workspace(), step), IdKind.STEP, step));
    }

    private Page<ObjectNode> lines(ApiRequest request, UUID step, long seen) throws InterruptedException {
        return streamReads.patiently(
                () -> reads.read((reader, c) -> reader.logs(c, request.workspace(), step, seen, MAX_LINES)));
    }

    /** One client. */
    private final class Stream {
        private final ApiRequest request;
        private final UUID run;
        private final UUID step;
        private final OutputStream out;
        private long seen;
        private String shown = "";
        private long sentAt = System.nanoTime();
        private long aliveAt = sentAt;

        private Stream(ApiRequest request, UUID run, UUID step, OutputStream out, long seen) {
            this.request = request;
            this.run = run;
            this.step = step;
            this.out = out;
            this.seen = seen;
        }

        private void send(Duration wait) throws IOException, InterruptedException {
            Progress known = streamReads.patiently(() -> reads.read((reader, c) -> Reads
                    .found(reader.progress(c, request.workspace(), run), IdKind.RUN, run)));
            try (StreamLimiter.Place _ = limiter.take(request);
                    RunProgressPoller.Watch watch = progress.watch(run, known)) {
                write(EventStreams.RETRY);
                while (!shutdown.hasBegun() && streamReads.patiently(() -> authenticator.stillOpenTo(request))) {
                    ObjectNode now = streamReads.patiently(() -> step(request, step));
                    boolean more = sendLines();
                    progressOf(now);
                    if (AnswerStreams.ended(now) && !more || System.nanoTime() - sentAt > wait.toNanos()) {
                        return;
                    }
                    if (!more) {
                        known = watch.await(known.lastSeq(), PAUSE);
                    }
                    if (System.nanoTime() - aliveAt > EventStreams.BEAT.toNanos()) {
                        aliveAt = System.nanoTime();
                        write(EventStreams.ALIVE);
                    }
                }
            }
        }

        /** Whether there may be more lines. */
        private boolean sendLines() throws IOException, InterruptedException {
            Page<ObjectNode> page = lines(request, step, seen);
            for (ObjectNode line : page.items()) {
                seen = line.get("seq").longValue();
                write(EventChunkCache.text(Long.toString(seen), line.put("type", "log")));
                sentAt = System.nanoTime();
            }
            return page.more();
        }

        /** Passes by: a client that comes again gets the latest only. */
        private void progressOf(ObjectNode now) throws IOException {
            ObjectNode data = Json.object().put("type", "progress");
            data.set("progress", now.get("progress"));
            data.set("message", now.get("progress_message"));
            data.set("state", now.get("state"));
            String text = data.toString();
            if (!text.equals(shown)) {
                shown = text;
                write(EventChunkCache.text(Long.toString(seen), data));
                sentAt = System.nanoTime();
            }
        }

        private void write(byte[] bytes) throws IOException {
            out.write(bytes);
            out.flush();
        }
    }
}
