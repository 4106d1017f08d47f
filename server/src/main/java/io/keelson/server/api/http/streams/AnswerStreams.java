package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.live.LiveTexts;
import io.keelson.server.engine.store.read.RunReader.Progress;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Streams of the text that a step will have as its result, while it arrives (server-sent events). The text of an execution is void
 * when a later one begins. A stream ends with the stored result, which alone counts.
 */
public final class AnswerStreams {

    /** Parts of a text that arrive within this time are sent together. */
    private static final Duration TOGETHER = Duration.ofMillis(50);
    private static final String END = "end";

    private final Reads reads;
    private final Authenticator authenticator;
    private final ShutdownSignal shutdown;
    private final StreamLimiter limiter;
    private final StreamReads streamReads;
    private final RunProgressPoller progress;
    private final LiveTexts texts;

    public AnswerStreams(Reads reads, Authenticator authenticator, ShutdownSignal shutdown, StreamLimiter limiter,
            StreamReads streamReads, RunProgressPoller progress, LiveTexts texts) {
        this.reads = reads;
        this.authenticator = authenticator;
        this.shutdown = shutdown;
        this.limiter = limiter;
        this.streamReads = streamReads;
        this.progress = progress;
        this.texts = texts;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/steps/{id}/stream", this::ofStep);
    }

    private ApiResponse ofStep(ApiRequest request) throws InterruptedException {
        UUID step = request.id("id", IdKind.STEP);
        String seen = lastSeen(request);
        Duration wait = EventStreams.longest(request);
        ObjectNode found = streamReads.once(() -> reads.step(request.workspace(), step));
        if (seen.equals(END) && ended(found)) {
            return ApiResponse.empty(EventStreams.NO_CONTENT);
        }
        limiter.requireRoom(request);
        UUID run = UUID.fromString(found.get("run_id").stringValue());
        return EventStreams.stream(out -> new Stream(request, run, step, out, seen).send(wait));
    }

    static boolean ended(JsonNode step) {
        return step.get("state_type").stringValue().equals("terminal");
    }

    /** The id of the last event that the client has seen; {@code 0-0} if absent. */
    private static String lastSeen(ApiRequest request) {
        String id = request.header("Last-Event-ID");
        String seen = id == null || id.isEmpty() ? request.query().text("after") : id;
        if (seen == null) {
            return "0-0";
        }
        if (!seen.matches("\\d{1,9}-\\d{1,9}|" + END)) {
            throw ApiProblem.of(ErrorCode.INVALID_PARAMETER,
                    "Last-Event-ID must be the id of an event of this stream, not " + Excerpt.piece(seen));
        }
        return seen;
    }

    /** The result's text; null if the result is not text. */
    private static @Nullable String text(JsonNode output) {
        JsonNode text = output.isObject() ? output.path(output.has("text") ? "text" : "output") : output;
        return text.isString() ? text.stringValue() : null;
    }

    /** One client. */
    private final class Stream {
        private final ApiRequest request;
        private final UUID run;
        private final UUID step;
        private final OutputStream out;
        private int epoch;
        private int seq;
        private long sentAt = System.nanoTime();

        private Stream(ApiRequest request, UUID run, UUID step, OutputStream out, String seen) {
            this.request = request;
            this.run = run;
            this.step = step;
            this.out = out;
            if (!seen.equals(END)) {
                this.epoch = Integer.parseInt(seen.substring(0, seen.indexOf('-')));
                this.seq = Integer.parseInt(seen.substring(seen.indexOf('-') + 1));
            }
        }

        private void send(Duration wait) throws IOException, InterruptedException {
            Progress known = streamReads.patiently(() -> reads.read((reader, c) -> Reads
                    .found(reader.progress(c, request.workspace(), run), IdKind.RUN, run)));
            try (StreamLimiter.Place _ = limiter.take(request);
                    RunProgressPoller.Watch watch = progress.watch(run, known);
                    LiveTexts.Reader reader = texts.read(step)) {
                write(EventStreams.RETRY);
                while (!shutdown.hasBegun()) {
                    ObjectNode now = streamReads.patiently(() -> reads.step(request.workspace(), step));
                    if (ended(now)) {
                        news(reader);
                        answer(now);
                        return;
                    }
                    Progress before = known;
                    known = follow(reader, watch, before, wait);
                    if (known.lastSeq() == before.lastSeq()) {
                        return;
                    }
                }
            }
        }

        /** Sends text until the run continues; the same progress when the client has gone or the time is over. */
        private Progress follow(LiveTexts.Reader reader, RunProgressPoller.Watch watch, Progress known, Duration wait)
                throws IOException, InterruptedException {
            long checkedAt = System.nanoTime();
            long aliveAt = checkedAt;
            while (!shutdown.hasBegun() && System.nanoTime() - sentAt < wait.toNanos()) {
                if (news(reader)) {
                    sentAt = System.nanoTime();
                    aliveAt = sentAt;
                }
                Progress now = watch.await(known.lastSeq(), TOGETHER);
                if (now.lastSeq() > known.lastSeq()) {
                    return now;
                }
                long time = System.nanoTime();
                if (time - checkedAt > EventStreams.KEY_CHECK.toNanos()) {
                    checkedAt = time;
                    if (!streamReads.patiently(() -> authenticator.stillOpenTo(request))) {
                        return known;
                    }
                }
                if (time - aliveAt > EventStreams.BEAT.toNanos()) {
                    aliveAt = time;
                    write(EventStreams.ALIVE);
                }
            }
            return known;
        }

        /** Sends text that has arrived; false if there is no new text. */
        private boolean news(LiveTexts.Reader reader) throws IOException {
            LiveTexts.Part part = reader.after(epoch, seq);
            if (part == null) {
                return false;
            }
            begin(part.epoch());
            seq = part.seq();
            if (!part.text().isEmpty()) {
                event(epoch + "-" + seq, Json.object().put("type", "text").put("epoch", epoch).put("seq", seq)
                        .put("text", part.text()));
            }
            return true;
        }

        /** The text of an earlier execution is void. */
        private void begin(int next) throws IOException {
            if (epoch > 0 && next > epoch) {
                event(next + "-0", Json.object().put("type", "superseded").put("epoch", next));
            }
            epoch = next;
        }

        private void answer(ObjectNode now) throws IOException {
            begin(now.get("lease_epoch").intValue());
            ObjectNode data = Json.object().put("type", "answer");
            data.set("epoch", now.get("lease_epoch"));
            data.set("state", now.get("state"));
            data.put("text", text(now.path("output")));
            data.set("error_code", now.get("error_code"));
            event(END, data);
        }

        private void event(String id, ObjectNode data) throws IOException {
            write(EventChunkCache.text(id, data));
        }

        private void write(byte[] bytes) throws IOException {
            out.write(bytes);
            out.flush();
        }
    }
}
