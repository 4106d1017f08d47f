package io.keelson.server.http;

import io.keelson.server.auth.Scope;
import io.keelson.server.run.RunReader.Progress;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;

/**
 * Events as they happen (server-sent events, the HTML standard). A stream goes on where the last one broke off, by the
 * number of the last event that was seen; it ends behind the last event of a run that has ended.
 */
final class EventStreams {

    /** How often a stream without events looks whether its key is still good, and how often its client hears of it. */
    private static final Duration BEAT = Duration.ofSeconds(5);
    private static final byte[] ALIVE = ":\n\n".getBytes(StandardCharsets.UTF_8);
    /** When a client whose stream broke off comes again. */
    static final byte[] RETRY = "retry: 1000\n\n".getBytes(StandardCharsets.UTF_8);
    private static final long LONGEST_MILLIS = Duration.ofDays(365).toMillis();
    /** To a client that comes again after the end: it does not come once more. */
    private static final int NO_CONTENT = 204;

    private final Reads reads;
    private final RunNews news;
    private final Door door;
    private final Stopping stopping;
    private final StreamPlaces places;
    private final StreamReads patient;
    private final EventTexts texts = new EventTexts();

    EventStreams(Reads reads, Door door, Stopping stopping, StreamPlaces places, StreamReads patient) {
        this.reads = reads;
        this.door = door;
        this.stopping = stopping;
        this.places = places;
        this.patient = patient;
        this.news = new RunNews(runs -> reads.read((reader, c) -> reader.progress(c, runs)), stopping);
    }

    void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/events/stream", this::ofRun);
    }

    private Answer ofRun(Call call) throws InterruptedException {
        UUID run = call.id("id", IdKind.RUN);
        Query query = call.query();
        long after = query.integer("after", 0, Long.MAX_VALUE, 0);
        long wait = query.integer("wait_ms", 0, Long.MAX_VALUE, Long.MAX_VALUE);
        query.done();
        long seen = Math.max(after, lastSeen(call, 0));
        Progress known = patient.once(() -> reads.read((reader, c) -> Reads.found(
                reader.progress(c, call.workspace(), run), IdKind.RUN, run)));
        if (known.ended() && known.lastSeq() <= seen) {
            return Answer.empty(NO_CONTENT);
        }
        places.requireRoom(call);
        // an id that is none of this run's yet, as of another stream, skips nothing that is to come
        long from = Math.min(seen, known.lastSeq());
        return Answer.live("text/event-stream", out -> send(new Reader(call, run, out, from), known, wait))
                .header("Cache-Control", "no-cache").header("X-Accel-Buffering", "no");
    }

    /** What a client says that goes on. */
    static long lastSeen(Call call, long absent) {
        String id = call.header("Last-Event-ID");
        if (id == null || id.isEmpty()) {
            return absent;
        }
        if (!id.matches("\\d{1,18}")) {
            throw Refusal.of(ErrorCode.INVALID_PARAMETER,
                    "Last-Event-ID is the number of an event of this stream, not " + Shown.piece(id));
        }
        return Long.parseLong(id);
    }

    private void send(Reader reader, Progress known, long wait) throws IOException, InterruptedException {
        try (StreamPlaces.Place _ = places.take(reader.call); RunNews.Watch watch = news.watch(reader.run, known)) {
            reader.write(RETRY);
            follow(reader, known, watch, Duration.ofMillis(Math.min(wait, LONGEST_MILLIS)));
        }
    }

    private void follow(Reader reader, Progress before, RunNews.Watch watch, Duration wait)
            throws IOException, InterruptedException {
        Progress known = before;
        Duration quiet = Duration.ZERO;
        while (!stopping.hasBegun() && reader.open()) {
            if (known.lastSeq() > reader.seen) {
                reader.sendUpTo(known.lastSeq());
                quiet = Duration.ZERO;
            }
            Duration left = wait.minus(quiet);
            if (known.ended() || !left.isPositive()) {
                return;
            }
            Duration beat = left.compareTo(BEAT) < 0 ? left : BEAT;
            known = watch.await(reader.seen, beat);
            if (known.lastSeq() <= reader.seen) {
                quiet = quiet.plus(beat);
                reader.write(ALIVE);
            }
        }
    }

    /** Whoever is sent a run's events. */
    private final class Reader {
        private final Call call;
        private final UUID run;
        private final OutputStream out;
        private long seen;

        private Reader(Call call, UUID run, OutputStream out, long seen) {
            this.call = call;
            this.run = run;
            this.out = out;
            this.seen = seen;
        }

        private void write(byte[] text) throws IOException {
            out.write(text);
            out.flush();
        }

        /** Asked for every stretch: who catches up may be at it for hours, and the key be revoked meanwhile. */
        private boolean open() throws InterruptedException {
            return patient.patiently(() -> door.stillOpenTo(call));
        }

        private void sendUpTo(long last) throws IOException, InterruptedException {
            while (seen < last && !stopping.hasBegun() && open()) {
                EventTexts.Part part = texts.of(run, seen, EventTexts.end(seen, last),
                        (id, after, limit) -> patient.patiently(() -> reads.read((reader, c) -> reader
                                .eventsWithSteps(c, call.workspace(), id, after, limit))));
                for (byte[] text : part.texts()) {
                    out.write(text);
                }
                out.flush();
                seen = part.to();
            }
        }
    }
}
