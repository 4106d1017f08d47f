package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.Detail;
import io.keelson.server.engine.store.read.RunReader.Progress;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/**
 * Streams of a step's log lines and progress while it is executed. Lines have no events of the run, so they are read from the
 * database twice a second.
 */
public final class LogStreams {

    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int MAX_LINES = 500;

    private final Streams streams;
    private final RunProgressPoller progress;

    public LogStreams(Streams streams, RunProgressPoller progress) {
        this.streams = streams;
        this.progress = progress;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/steps/{id}/logs/stream", this::ofStep);
    }

    private ApiResponse ofStep(ApiRequest request) throws InterruptedException {
        UUID step = request.id("id", IdKind.STEP);
        long seen = Math.max(request.query().integer("after", 0), Streams.lastSeen(request, 0));
        ObjectNode found = streams.once(() -> step(request, step));
        if (AnswerStreams.ended(found) && lines(request, step, seen).items().isEmpty()
                && request.header("Last-Event-ID") != null) {
            return ApiResponse.empty(Streams.NO_CONTENT);
        }
        UUID run = UUID.fromString(found.get("run_id").stringValue());
        return streams.stream(request, stream -> new Lines(stream, request, step, run,
                streams.patiently(() -> streams.progress(request, run)), seen));
    }

    /** Without its values, which may be large: it is read again and again. */
    private ObjectNode step(ApiRequest request, UUID step) {
        return streams.reads().step(request.workspace(), step, Detail.LIGHT);
    }

    private Page<ObjectNode> lines(ApiRequest request, UUID step, long seen) throws InterruptedException {
        return streams.patiently(() -> streams.reads()
                .read((reader, c) -> reader.logs(c, request.workspace(), step, seen, MAX_LINES)));
    }

    private final class Lines implements SseStream.Source {
        private final SseStream stream;
        private final ApiRequest request;
        private final UUID step;
        private final RunProgressPoller.Watch watch;
        private Progress known;
        private long seen;
        private boolean more;
        private String shown = "";

        private Lines(SseStream stream, ApiRequest request, UUID step, UUID run, Progress known, long seen) {
            this.stream = stream;
            this.request = request;
            this.step = step;
            this.watch = progress.watch(run, known);
            this.known = known;
            this.seen = seen;
        }

        @Override
        public SseStream.Sent send() throws IOException, InterruptedException {
            ObjectNode now = streams.patiently(() -> step(request, step));
            Page<ObjectNode> page = lines(request, step, seen);
            for (ObjectNode line : page.items()) {
                seen = line.get("seq").longValue();
                stream.event(Long.toString(seen), line.put("type", "log"));
            }
            more = page.more();
            boolean any = sendProgress(now) || !page.items().isEmpty();
            return AnswerStreams.ended(now) && !more ? SseStream.Sent.LAST
                    : any ? SseStream.Sent.EVENTS : SseStream.Sent.NONE;
        }

        /** Passes by: a client that comes again gets the latest only. */
        private boolean sendProgress(ObjectNode now) throws IOException {
            ObjectNode data = Json.object().put("type", "progress");
            data.set("progress", now.get("progress"));
            data.set("message", now.get("progress_message"));
            data.set("state", now.get("state"));
            String text = data.toString();
            if (text.equals(shown)) {
                return false;
            }
            shown = text;
            stream.event(Long.toString(seen), data);
            return true;
        }

        @Override
        public void await(Duration atMost) throws InterruptedException {
            if (!more) {
                known = watch.await(known.lastSeq(), atMost.compareTo(PAUSE) < 0 ? atMost : PAUSE);
            }
        }

        @Override
        public void close() {
            watch.close();
        }
    }
}
