package io.keelson.server.api.http.streams;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Chunks of workspaces' feeds: all streams of one workspace send the same text, read once. The most recently
 * used chunks are kept, up to the cache's size.
 */
final class FeedChunkCache {

    /**
     * Chunk length in ids, including unused ids and other workspaces' ids: the ids of 128 packs, which have 3 events
     * each on average.
     */
    static final int CHUNK_SIZE = 128_000;
    private static final int MAX_KEPT = 32;
    private static final long MAX_BYTES = 32L << 20;
    /** Bytes of an event besides its text. */
    private static final int BESIDE = 200;

    /** Events with ids after one up to and with another. */
    private record Key(UUID workspace, long after, long to) {}

    /**
     * One event.
     *
     * @param type as the stream names it
     * @param eventType as the list names it
     * @param seq its number in its run
     */
    record Piece(long id, long seq, String type, String eventType, UUID run, @Nullable String task, byte[] text) {}

    private static final class Chunk {
        private final ReentrantLock reading = new ReentrantLock();
        private @Nullable List<Piece> pieces;
    }

    /** Reads events in order. */
    interface Source {
        List<ObjectNode> read() throws InterruptedException;
    }

    private final SizedCache<Key, Chunk> kept;

    FeedChunkCache() {
        this(MAX_BYTES);
    }

    /** @param most maximum cached bytes; reads in progress come on top */
    FeedChunkCache(long most) {
        kept = new SizedCache<>(MAX_KEPT, most);
    }

    /** The end of the chunk that begins after that id: all end at the same ids but for the last. */
    static long end(long after, long settled) {
        return Math.min(settled, (after / CHUNK_SIZE + 1) * CHUNK_SIZE);
    }

    List<Piece> of(UUID workspace, long after, long to, Source source) throws InterruptedException {
        Key key = new Key(workspace, after, to);
        Chunk chunk = kept.get(key, Chunk::new);
        chunk.reading.lockInterruptibly();
        try {
            List<Piece> pieces = chunk.pieces;
            if (pieces == null) {
                pieces = source.read().stream().map(FeedChunkCache::piece).toList();
                chunk.pieces = pieces;
                kept.grow(key, chunk, pieces.stream().mapToLong(piece -> piece.text().length + BESIDE).sum());
            }
            return pieces;
        } finally {
            chunk.reading.unlock();
        }
    }

    /** Forgets all chunks: the database may have other events. */
    void clear() {
        kept.clear();
    }

    /** Cached bytes. */
    long bytes() {
        return kept.bytes();
    }

    private static Piece piece(ObjectNode event) {
        ObjectNode data = EventTexts.named(event);
        String id = event.get("id").asString();
        return new Piece(Long.parseLong(id), event.get("seq").longValue(), data.get("type").stringValue(),
                event.get("event_type").stringValue(), UUID.fromString(event.get("run_id").asString()),
                event.get("task_id").stringValueOpt().orElse(null), EventTexts.text(id, data));
    }
}
