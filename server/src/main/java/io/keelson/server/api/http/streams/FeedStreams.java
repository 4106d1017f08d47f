package io.keelson.server.api.http.streams;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.StreamTypes;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.SharedReads;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.engine.store.read.FeedWatermark;
import io.keelson.server.mission.plan.NameSuggestion;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Streams of a workspace's events. A stream resumes on any server, by the id of the last
 * received event. Events of late commits are not skipped.
 */
public final class FeedStreams {

    private static final List<String> EVENT_TYPES = Stream.of(EventType.values()).map(EventType::wire).toList();

    private final Streams streams;
    private volatile FeedWatermark marks = new FeedWatermark();
    private final FeedPoller news;
    private final FeedChunkCache texts = new FeedChunkCache();
    /** The last event's id, for clients that come together. */
    private final SharedReads<FeedStreams, Long> heads;

    public FeedStreams(Streams streams, ShutdownSignal shutdown) {
        this.streams = streams;
        this.heads = new SharedReads<>(StreamLimiter.MAX_IN_ALL,
                asked -> Collections.nCopies(asked.size(), Tenancy.allWorkspaces(
                        () -> streams.reads().read((reader, c) -> FeedReader.lastId(c)))));
        this.news = new FeedPoller(() -> streams.reads().read((reader, c) -> marks.look(c)), shutdown);
        streams.onChangedEvents(this::forget);
    }

    private void forget() {
        marks = new FeedWatermark();
        news.forget();
        texts.clear();
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
        long head = Tenancy.allWorkspaces(() -> streams.reads().read((reader, c) -> FeedReader.lastId(c)));
        FeedReader.Latest found =
                streams.reads().read((reader, c) -> FeedReader.latest(c, request.workspace(), runs, types,
                        Math.min(before, head + 1), query.limit()));
        return ApiResponse.ok(Lists.page(found.events(),
                found.before() > 0 ? cursor.write(Long.toString(found.before())) : null));
    }

    private Set<UUID> runs(ApiRequest request) {
        Set<UUID> runs = Set.copyOf(request.query().ids("run_id"));
        runs.forEach(run -> streams.reads().requireRun(request.workspace(), run));
        return runs;
    }

    private ApiResponse ofWorkspace(ApiRequest request) throws InterruptedException {
        Query query = request.query();
        long after = query.integer("after", -1);
        Set<String> types = types(query.text("types"), StreamTypes.all());
        Set<UUID> runs = request.query().ids("run_id").isEmpty() ? Set.of() : streams.once(() -> runs(request));
        Duration digest = Duration.ofMillis(query.integer("digest_ms", 0));
        long seen = Math.max(after, Streams.lastSeen(request, -1));
        return streams.stream(request, stream -> {
            long head = streams.patiently(() -> heads.read(this));
            return new Feed(stream, request, types, runs, digest, seen < 0 ? head : Math.min(seen, head), head);
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

    private final class Feed implements SseStream.Source {
        private final SseStream stream;
        private final ApiRequest request;
        private final Set<String> types;
        private final Set<UUID> runs;
        private final FeedPoller.Watch watch = news.watch();
        /** Zero for a stream of events. */
        private final long digestNanos;
        private final FeedDigest digest = new FeedDigest();
        private long digestBegun;
        /** The last event when the client came: the stream waits for a short time until it is settled. */
        private final long head;
        private final long begun = System.nanoTime();
        private long settled = -1;
        private long seen;
        private long sent;
        /** The chunk that is being sent; read as a whole and shared. */
        private long from;
        private long to;

        private Feed(SseStream stream, ApiRequest request, Set<String> types, Set<UUID> runs, Duration digest,
                long seen, long head) {
            this.stream = stream;
            this.request = request;
            this.types = types;
            this.runs = runs;
            this.digestNanos = digest.toNanos();
            this.seen = seen;
            this.sent = seen;
            this.head = head;
        }

        @Override
        public SseStream.Sent send() throws IOException, InterruptedException {
            while (settled < head && System.nanoTime() - begun < SseStream.BEAT.toNanos() && stream.open()) {
                settled = watch.await(head, SseStream.PAUSE);
            }
            if (!digest.isEmpty() && untilDigest() <= 0) {
                sendDigest();
            }
            return settled > seen && sendUpTo(settled) ? SseStream.Sent.EVENTS : SseStream.Sent.NONE;
        }

        @Override
        public void await(Duration atMost) throws InterruptedException {
            settled = watch.await(seen + 1, digest.isEmpty() ? atMost : shorter(atMost));
        }

        @Override
        public void close() {
            watch.close();
        }

        private Duration shorter(Duration pause) {
            return Duration.ofNanos(Math.clamp(untilDigest(), 1, pause.toNanos()));
        }

        private long untilDigest() {
            return digestBegun + digestNanos - System.nanoTime();
        }

        private void sendDigest() throws IOException {
            sent = digest.last();
            stream.write(digest.take());
        }

        /** A resumed stream need not skip the same events again. */
        @Override
        public byte[] alive() {
            boolean skipped = seen > sent && digest.isEmpty();
            sent = digest.isEmpty() ? seen : sent;
            return skipped ? ("id: " + seen + "\n\n").getBytes(StandardCharsets.UTF_8) : SseStream.ALIVE;
        }

        private boolean sendUpTo(long settled) throws IOException, InterruptedException {
            boolean any = false;
            while (seen < settled && stream.open()) {
                List<FeedChunkCache.Piece> part = next(settled);
                any |= !part.isEmpty();
                if (digestNanos == 0 && !part.isEmpty()) {
                    stream.write(part.stream().map(FeedChunkCache.Piece::text).toList());
                    sent = part.getLast().id();
                } else if (!part.isEmpty()) {
                    digestBegun = digest.isEmpty() ? System.nanoTime() : digestBegun;
                    part.forEach(digest::add);
                }
                if (!digest.isEmpty() && untilDigest() <= 0) {
                    sendDigest();
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
            for (FeedChunkCache.Piece piece : texts.of(request.workspace(), from, to, () -> streams.patiently(
                    () -> streams.reads().read((reader, c) -> FeedReader.events(c, request.workspace(), from, to))))) {
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

        private boolean wanted(FeedChunkCache.Piece piece) {
            return (runs.isEmpty() || runs.contains(piece.run()))
                    && (types.isEmpty() || types.contains(piece.type()) || types.contains(piece.eventType()));
        }
    }
}
