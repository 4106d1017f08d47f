package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.live.LiveTexts;
import io.keelson.server.engine.store.read.RunReader.Progress;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Streams of the text that a step will have as its result, while it arrives. The text of an execution is void
 * when a later one begins. A stream ends with the stored result, which alone counts.
 */
public final class AnswerStreams {

    /** Parts of a text that arrive within this time are sent together. */
    private static final Duration TOGETHER = Duration.ofMillis(50);
    private static final String END = "end";

    private final Streams streams;
    private final RunProgressPoller progress;
    private final LiveTexts texts;

    public AnswerStreams(Streams streams, RunProgressPoller progress, LiveTexts texts) {
        this.streams = streams;
        this.progress = progress;
        this.texts = texts;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/steps/{id}/stream", this::ofStep);
    }

    private ApiResponse ofStep(ApiRequest request) throws InterruptedException {
        UUID step = request.id("id", IdKind.STEP);
        String seen = lastSeen(request);
        ObjectNode found = streams.once(() -> streams.reads().step(request.workspace(), step));
        if (seen.equals(END) && ended(found)) {
            return ApiResponse.empty(Streams.NO_CONTENT);
        }
        UUID run = UUID.fromString(found.get("run_id").stringValue());
        return streams.stream(request, stream -> new Answer(stream, request, step, run,
                streams.patiently(() -> streams.progress(request, run)), seen));
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

    private final class Answer implements SseStream.Source {
        private final SseStream stream;
        private final ApiRequest request;
        private final UUID step;
        private final RunProgressPoller.Watch watch;
        private final LiveTexts.Reader reader;
        private Progress known;
        /** True until the step is read as of {@link #known}. */
        private boolean changed = true;
        private int epoch;
        private int seq;

        private Answer(SseStream stream, ApiRequest request, UUID step, UUID run, Progress known, String seen) {
            this.stream = stream;
            this.request = request;
            this.step = step;
            this.known = known;
            if (!seen.equals(END)) {
                this.epoch = Integer.parseInt(seen.substring(0, seen.indexOf('-')));
                this.seq = Integer.parseInt(seen.substring(seen.indexOf('-') + 1));
            }
            this.watch = progress.watch(run, known);
            this.reader = texts.read(step);
        }

        @Override
        public SseStream.Sent send() throws IOException, InterruptedException {
            if (changed) {
                changed = false;
                ObjectNode now = streams.patiently(() -> streams.reads().step(request.workspace(), step));
                if (ended(now)) {
                    sendText();
                    sendAnswer(now);
                    return SseStream.Sent.LAST;
                }
            }
            return sendText() ? SseStream.Sent.EVENTS : SseStream.Sent.NONE;
        }

        @Override
        public void await(Duration atMost) throws InterruptedException {
            Progress now = watch.await(known.lastSeq(), atMost.compareTo(TOGETHER) < 0 ? atMost : TOGETHER);
            changed = now.lastSeq() > known.lastSeq();
            known = now;
        }

        @Override
        public void close() {
            reader.close();
            watch.close();
        }

        /** Sends text that has arrived; false if there is no new text. */
        private boolean sendText() throws IOException {
            LiveTexts.Part part = reader.after(epoch, seq);
            if (part == null) {
                return false;
            }
            begin(part.epoch());
            seq = part.seq();
            if (!part.text().isEmpty()) {
                stream.event(epoch + "-" + seq, Json.object().put("type", "text").put("epoch", epoch).put("seq", seq)
                        .put("text", part.text()));
            }
            return true;
        }

        /** The text of an earlier execution is void. */
        private void begin(int next) throws IOException {
            if (epoch > 0 && next > epoch) {
                stream.event(next + "-0", Json.object().put("type", "superseded").put("epoch", next));
            }
            epoch = next;
        }

        private void sendAnswer(ObjectNode now) throws IOException {
            begin(now.get("lease_epoch").intValue());
            ObjectNode data = Json.object().put("type", "answer");
            data.set("epoch", now.get("lease_epoch"));
            data.set("state", now.get("state"));
            data.put("text", text(now.path("output")));
            data.set("error_code", now.get("error_code"));
            stream.event(END, data);
        }
    }
}
