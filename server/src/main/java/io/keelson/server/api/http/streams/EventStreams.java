package io.keelson.server.api.http.streams;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.engine.store.read.RunReader.Progress;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;

/**
 * Streams of a run's events. A stream resumes after the last received event, by the number of the last event that was seen; it
 * ends behind the last event of a run that has ended.
 */
public final class EventStreams {

    private final Streams streams;
    private final RunProgressPoller progress;
    private final EventChunkCache texts = new EventChunkCache();

    public EventStreams(Streams streams, RunProgressPoller progress) {
        this.streams = streams;
        this.progress = progress;
        streams.onChangedEvents(texts::clear);
    }

    public void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/events/stream", this::ofRun);
    }

    private ApiResponse ofRun(ApiRequest request) throws InterruptedException {
        UUID run = request.id("id", IdKind.RUN);
        long seen = Math.max(request.query().integer("after", 0), Streams.lastSeen(request, 0));
        Progress known = streams.once(() -> streams.progress(request, run));
        if (known.ended() && known.lastSeq() <= seen) {
            return ApiResponse.empty(Streams.NO_CONTENT);
        }
        // an id above the run's last event, for example of another stream, skips no later event
        long from = Math.min(seen, known.lastSeq());
        return streams.stream(request, stream -> new RunEvents(stream, request, run, known, from));
    }

    private final class RunEvents implements SseStream.Source {
        private final SseStream stream;
        private final ApiRequest request;
        private final UUID run;
        private final RunProgressPoller.Watch watch;
        private Progress known;
        private long seen;

        private RunEvents(SseStream stream, ApiRequest request, UUID run, Progress known, long seen) {
            this.stream = stream;
            this.request = request;
            this.run = run;
            this.watch = progress.watch(run, known);
            this.known = known;
            this.seen = seen;
        }

        @Override
        public SseStream.Sent send() throws IOException, InterruptedException {
            boolean any = false;
            while (seen < known.lastSeq() && stream.open()) {
                EventChunkCache.Part part = texts.of(run, seen, EventChunkCache.end(seen, known.lastSeq()),
                        (id, after, limit) -> streams.patiently(() -> streams.reads().read((reader, c) -> reader
                                .eventsWithSteps(c, request.workspace(), id, after, limit))));
                stream.write(part.texts());
                seen = part.to();
                any = true;
            }
            return known.ended() ? SseStream.Sent.LAST : any ? SseStream.Sent.EVENTS : SseStream.Sent.NONE;
        }

        @Override
        public void await(Duration atMost) throws InterruptedException {
            known = watch.await(seen, atMost);
        }

        @Override
        public void close() {
            watch.close();
        }
    }
}
