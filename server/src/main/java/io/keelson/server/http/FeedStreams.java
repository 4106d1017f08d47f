package io.keelson.server.http;

import io.keelson.core.lifecycle.StreamTypes;
import io.keelson.server.auth.Scope;
import io.keelson.server.db.Tenancy;
import io.keelson.server.plan.Nearest;
import io.keelson.server.run.FeedMarks;
import io.keelson.server.run.FeedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What happens in a workspace, as it happens (server-sent events). A stream goes on where the last one broke off, on any
 * server, by the id of the last event that was seen; what commits late is not skipped (specification: reliability, race
 * 17).
 */
final class FeedStreams {

    private static final Pattern TYPES = Pattern.compile("[a-z_.]{1,50}(,[a-z_.]{1,50}){0,49}");
    private static final Duration BEAT = Duration.ofSeconds(5);
    private static final long LONGEST_MILLIS = Duration.ofDays(365).toMillis();

    private final Reads reads;
    private final Door door;
    private final Stopping stopping;
    private final StreamPlaces places;
    private final StreamReads patient;
    private final FeedMarks marks = new FeedMarks();
    private final FeedNews news;
    private final FeedTexts texts = new FeedTexts();

    FeedStreams(Reads reads, Door door, Stopping stopping, StreamPlaces places, StreamReads patient) {
        this.reads = reads;
        this.door = door;
        this.stopping = stopping;
        this.places = places;
        this.patient = patient;
        this.news = new FeedNews(() -> reads.read((reader, c) -> marks.look(c)), stopping);
    }

    void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/events/stream", this::ofWorkspace);
    }

    private Answer ofWorkspace(Call call) throws InterruptedException {
        Query query = call.query();
        long after = query.integer("after", 0, Long.MAX_VALUE, -1);
        long wait = query.integer("wait_ms", 0, Long.MAX_VALUE, Long.MAX_VALUE);
        Set<String> types = types(query.text("types"));
        UUID run = run(query.text("run_id"));
        query.done();
        if (run != null) {
            patient.once(() -> {
                reads.requireRun(call.workspace(), run);
                return run;
            });
        }
        long seen = Math.max(after, EventStreams.lastSeen(call, -1));
        places.requireRoom(call);
        long head = patient.once(() -> Tenancy.everywhere(() -> reads.read((reader, c) -> FeedReader.lastId(c))));
        return Answer.live("text/event-stream", out -> {
            try (StreamPlaces.Place _ = places.take(call); FeedNews.Watch watch = news.watch()) {
                new Reader(call, types, run, out, seen < 0 ? head : Math.min(seen, head)).follow(watch, head,
                        Duration.ofMillis(Math.min(wait, LONGEST_MILLIS)));
            }
        }).header("Cache-Control", "no-cache").header("X-Accel-Buffering", "no");
    }

    private static Set<String> types(@Nullable String text) {
        if (text != null && !TYPES.matcher(text).matches()) {
            throw Query.invalid("types", "names up to 50 types of events, with commas between them");
        }
        List<String> types = text == null ? List.of() : List.of(text.split(","));
        for (String type : types) {
            if (!StreamTypes.all().contains(type)) {
                throw Query.invalid("types", "names no type of events: " + type
                        + Nearest.hint(type, StreamTypes.all())).allowing(StreamTypes.all());
            }
        }
        return Set.copyOf(types);
    }

    private static @Nullable UUID run(@Nullable String text) {
        UUID run = text == null ? null : IdKind.RUN.parse(text);
        if (text != null && run == null) {
            throw Query.invalid("run_id", "is a run's id");
        }
        return run;
    }

    /** Whoever is sent a workspace's events. */
    private final class Reader {
        private final Call call;
        private final Set<String> types;
        private final @Nullable UUID run;
        private final OutputStream out;
        private long seen;
        private long told;
        /** The stretch that is being sent; read as a whole and shared. */
        private long from;
        private long to;
        private long spoken = System.nanoTime();

        private Reader(Call call, Set<String> types, @Nullable UUID run, OutputStream out, long seen) {
            this.call = call;
            this.types = types;
            this.run = run;
            this.out = out;
            this.seen = seen;
            this.told = seen;
        }

        /** @param head what was there when it came: that much is sent before quiet counts */
        private void follow(FeedNews.Watch watch, long head, Duration wait) throws IOException, InterruptedException {
            write(EventStreams.RETRY);
            long settled = watch.await(head, BEAT);
            long last = System.nanoTime();
            while (!stopping.hasBegun() && open()) {
                if (settled > seen && sendUpTo(settled)) {
                    last = System.nanoTime();
                }
                Duration left = wait.minusNanos(System.nanoTime() - last);
                if (!left.isPositive()) {
                    return;
                }
                settled = watch.await(seen + 1, left.compareTo(BEAT) < 0 ? left : BEAT);
                if (System.nanoTime() - spoken >= BEAT.toNanos()) {
                    beat();
                }
            }
        }

        /** Who comes again need not read again what was none of theirs. */
        private void beat() throws IOException {
            write((seen > told ? "id: " + seen + "\n\n" : ":\n\n").getBytes(StandardCharsets.UTF_8));
            told = seen;
        }

        private boolean sendUpTo(long settled) throws IOException, InterruptedException {
            boolean any = false;
            while (seen < settled && !stopping.hasBegun() && open()) {
                List<FeedTexts.Piece> part = next(settled);
                for (FeedTexts.Piece piece : part) {
                    out.write(piece.text());
                    told = piece.id();
                    any = true;
                }
                if (!part.isEmpty()) {
                    out.flush();
                    spoken = System.nanoTime();
                }
            }
            return any;
        }

        /** The next that are wanted: little at a time, for a slow client may hold them for long. */
        private List<FeedTexts.Piece> next(long settled) throws InterruptedException {
            if (seen >= to) {
                from = seen;
                to = FeedTexts.end(from, settled);
            }
            List<FeedTexts.Piece> part = new ArrayList<>();
            int size = 0;
            for (FeedTexts.Piece piece : texts.of(call.workspace(), from, to, () -> patient.patiently(
                    () -> reads.read((reader, c) -> FeedReader.events(c, call.workspace(), from, to))))) {
                if (piece.id() > seen && wanted(piece)) {
                    if (size > 0 && size + piece.text().length > EventTexts.PART_BYTES) {
                        seen = part.getLast().id();
                        return part;
                    }
                    part.add(piece);
                    size += piece.text().length;
                }
            }
            seen = to;
            return part;
        }

        /** Asked for every stretch: who catches up may be at it for hours, and the key be revoked meanwhile. */
        private boolean open() throws InterruptedException {
            return patient.patiently(() -> door.stillOpenTo(call));
        }

        private boolean wanted(FeedTexts.Piece piece) {
            return (run == null || run.equals(piece.run()))
                    && (types.isEmpty() || types.contains(piece.type()) || types.contains(piece.eventType()));
        }

        private void write(byte[] text) throws IOException {
            out.write(text);
            out.flush();
            spoken = System.nanoTime();
        }
    }
}
