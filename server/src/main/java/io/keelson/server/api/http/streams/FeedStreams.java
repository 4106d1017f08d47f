package io.keelson.server.api.http.streams;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.StreamTypes;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.engine.store.read.FeedWatermark;
import io.keelson.server.mission.plan.NameSuggestion;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Streams of a workspace's events (server-sent events). A stream resumes on any server, by the id of the last
 * received event. Events of late commits are not skipped.
 */
public final class FeedStreams {

    private static final List<String> EVENT_TYPES = Stream.of(EventType.values()).map(EventType::wire).toList();

    private final Reads reads;
    private final Authenticator authenticator;
    private final ShutdownSignal shutdown;
    private final StreamLimiter limiter;
    private final StreamReads streamReads;
    private final FeedWatermark marks = new FeedWatermark();
    private final FeedPoller news;
    private final FeedChunkCache texts = new FeedChunkCache();

    public FeedStreams(Reads reads, Authenticator authenticator, ShutdownSignal shutdown, StreamLimiter limiter,
            StreamReads streamReads) {
        this.reads = reads;
        this.authenticator = authenticator;
        this.shutdown = shutdown;
        this.limiter = limiter;
        this.streamReads = streamReads;
        this.news = new FeedPoller(() -> reads.read((reader, c) -> marks.look(c)), shutdown);
    }

    /** Polls for all followers. */
    public BackgroundTask task() {
        return news.task();
    }

    public void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/events/stream", this::ofWorkspace);
        table.get(Scope.RUNS_READ, "/events", this::latest);
    }

    private ApiResponse latest(ApiRequest request) {
        Query query = request.query();
        Set<UUID> runs = runs(request);
        Set<String> types = types(query.text("types"), EVENT_TYPES);
        ListCursor cursor = new ListCursor("latest events");
        Long from = cursor.read(query, Long::valueOf);
        long before = from == null ? query.integer("before", Long.MAX_VALUE) : from;
        long head = Tenancy.allWorkspaces(() -> reads.read((reader, c) -> FeedReader.lastId(c)));
        FeedReader.Latest found = reads.read((reader, c) -> FeedReader.latest(c, request.workspace(), runs, types,
                Math.min(before, head + 1), query.limit()));
        return ApiResponse.ok(Lists.page(found.events(),
                found.before() > 0 ? cursor.write(Long.toString(found.before())) : null));
    }

    private Set<UUID> runs(ApiRequest request) {
        Set<UUID> runs = Set.copyOf(request.query().ids("run_id"));
        runs.forEach(run -> reads.requireRun(request.workspace(), run));
        return runs;
    }

    private ApiResponse ofWorkspace(ApiRequest request) throws InterruptedException {
        Query query = request.query();
        long after = query.integer("after", -1);
        Duration wait = EventStreams.longest(request);
        Set<String> types = types(query.text("types"), StreamTypes.all());
        Set<UUID> runs = streamReads.once(() -> runs(request));
        Duration digest = Duration.ofMillis(query.integer("digest_ms", 0));
        long seen = Math.max(after, EventStreams.lastSeen(request, -1));
        limiter.requireRoom(request);
        long head =
                streamReads.once(() -> Tenancy.allWorkspaces(() -> reads.read((reader, c) -> FeedReader.lastId(c))));
        return EventStreams.stream(out -> {
            try (StreamLimiter.Place _ = limiter.take(request); FeedPoller.Watch watch = news.watch()) {
                new Reader(request, types, runs, digest, out, seen < 0 ? head : Math.min(seen, head)).follow(watch,
                        head, wait);
            }
        });
    }

    private static Set<String> types(@Nullable String text, List<String> known) {
        List<String> types = text == null ? List.of() : List.of(text.split(","));
        for (String type : types) {
            if (!known.contains(type)) {
                throw Query.invalid("types", "has an unknown event type: " + type
                        + NameSuggestion.hint(type, known)).allowing(known);
            }
        }
        return Set.copyOf(types);
    }

    /** One client of a workspace's event stream. */
    private final class Reader {
        private final ApiRequest request;
        private final Set<String> types;
        private final Set<UUID> runs;
        /** Zero for a stream of events. */
        private final long digestNanos;
        private final FeedDigest digest = new FeedDigest();
        private long digestBegun;
        private final OutputStream out;
        private long seen;
        private long sent;
        /** The chunk that is being sent; read as a whole and shared. */
        private long from;
        private long to;
        private long spoken = System.nanoTime();

        private Reader(ApiRequest request, Set<String> types, Set<UUID> runs, Duration digest, OutputStream out,
                long seen) {
            this.request = request;
            this.types = types;
            this.runs = runs;
            this.digestNanos = digest.toNanos();
            this.out = out;
            this.seen = seen;
            this.sent = seen;
        }

        /** @param head the last event at the start: events up to it are sent before the idle timeout counts */
        private void follow(FeedPoller.Watch watch, long head, Duration wait) throws IOException, InterruptedException {
            write(EventStreams.RETRY);
            long begun = System.nanoTime();
            long settled = watch.await(head, EventStreams.KEY_CHECK);
            while (settled < head && System.nanoTime() - begun < EventStreams.BEAT.toNanos() && !shutdown.hasBegun()
                    && open()) {
                settled = watch.await(head, EventStreams.KEY_CHECK);
            }
            long last = System.nanoTime();
            while (!shutdown.hasBegun() && open()) {
                if (settled > seen && sendUpTo(settled)) {
                    last = System.nanoTime();
                }
                Duration left = wait.minusNanos(System.nanoTime() - last);
                if (!left.isPositive()) {
                    return;
                }
                Duration pause = left.compareTo(EventStreams.KEY_CHECK) < 0 ? left : EventStreams.KEY_CHECK;
                settled = watch.await(seen + 1, digest.isEmpty() ? pause : shorter(pause));
                if (!digest.isEmpty() && untilDigest() <= 0) {
                    sendDigest();
                }
                if (System.nanoTime() - spoken >= EventStreams.BEAT.toNanos()) {
                    beat();
                }
            }
        }

        private Duration shorter(Duration pause) {
            return Duration.ofNanos(Math.clamp(untilDigest(), 1, pause.toNanos()));
        }

        private long untilDigest() {
            return digestBegun + digestNanos - System.nanoTime();
        }

        private void sendDigest() throws IOException {
            sent = digest.last();
            write(digest.take());
        }

        /** A resumed stream need not skip the same events again. */
        private void beat() throws IOException {
            write((seen > sent && digest.isEmpty() ? "id: " + seen + "\n\n" : ":\n\n")
                    .getBytes(StandardCharsets.UTF_8));
            sent = digest.isEmpty() ? seen : sent;
        }

        private boolean sendUpTo(long settled) throws IOException, InterruptedException {
            boolean any = false;
            while (seen < settled && !shutdown.hasBegun() && open()) {
                List<FeedChunkCache.Piece> part = next(settled);
                for (FeedChunkCache.Piece piece : part) {
                    any = true;
                    if (digestNanos > 0) {
                        digestBegun = digest.isEmpty() ? System.nanoTime() : digestBegun;
                        digest.add(piece);
                    } else {
                        out.write(piece.text());
                        sent = piece.id();
                    }
                }
                if (digestNanos > 0 && !digest.isEmpty() && untilDigest() <= 0) {
                    sendDigest();
                }
                if (!part.isEmpty() && digestNanos == 0) {
                    out.flush();
                    spoken = System.nanoTime();
                }
            }
            return any;
        }

        /** The next matching events, few at a time, because a slow client may hold them long. */
        private List<FeedChunkCache.Piece> next(long settled) throws InterruptedException {
            if (seen >= to) {
                from = seen;
                to = FeedChunkCache.end(from, settled);
            }
            List<FeedChunkCache.Piece> part = new ArrayList<>();
            int size = 0;
            for (FeedChunkCache.Piece piece : texts.of(request.workspace(), from, to, () -> streamReads.patiently(
                    () -> reads.read((reader, c) -> FeedReader.events(c, request.workspace(), from, to))))) {
                if (piece.id() > seen && wanted(piece)) {
                    if (size > 0 && size + piece.text().length > EventChunkCache.PART_BYTES) {
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

        /** Checked for every chunk: catching up may take hours, and the key be revoked meanwhile. */
        private boolean open() throws InterruptedException {
            return streamReads.patiently(() -> authenticator.stillOpenTo(request));
        }

        private boolean wanted(FeedChunkCache.Piece piece) {
            return (runs.isEmpty() || runs.contains(piece.run()))
                    && (types.isEmpty() || types.contains(piece.type()) || types.contains(piece.eventType()));
        }

        private void write(byte[] text) throws IOException {
            out.write(text);
            out.flush();
            spoken = System.nanoTime();
        }
    }
}
