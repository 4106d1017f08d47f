package io.keelson.server.api.http.streams;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import tools.jackson.databind.node.ObjectNode;

/**
 * Chunks of runs' events as text for event streams. Events do not change, so that all streams of one run
 * send the same text, which is read from the database once, wherever each begins.
 */
final class EventChunkCache {

    static final int CHUNK_SIZE = 256;
    /** Bytes that a stream is given at a time; one larger event is given alone. */
    static final int PART_BYTES = 32 << 10;
    private static final int MAX_KEPT = 128;
    private static final long MAX_BYTES = 32L << 20;

    /** Events in order, up to and with a number. The texts belong to all streams. */
    record Part(List<byte[]> texts, long to) {}

    /** All begin and end at the same numbers; a run's events are numbered without a gap. */
    private record Key(UUID run, long number) {}

    /** The events of a chunk that were read so far; the reading thread holds the lock. */
    private static final class Chunk {
        private final ReentrantLock reading = new ReentrantLock();
        private final byte[][] texts = new byte[CHUNK_SIZE][0];
        private int read;
    }

    /** Reads the events after one, in order, with their steps' numbers. */
    interface Source {
        List<ObjectNode> read(UUID run, long after, int limit) throws InterruptedException;
    }

    private final SizedCache<Key, Chunk> kept;

    EventChunkCache() {
        this(MAX_BYTES);
    }

    /** @param most maximum cached bytes; reads in progress come on top */
    EventChunkCache(long most) {
        kept = new SizedCache<>(MAX_KEPT, most);
    }

    /** The end of the chunk that contains the event after that one, at most the last event. */
    static long end(long after, long last) {
        return Math.min(last, (after / CHUNK_SIZE + 1) * CHUNK_SIZE);
    }

    /** The first of the events after one up to and with {@link #end}, all of which are committed. */
    Part of(UUID run, long after, long to, Source source) throws InterruptedException {
        Key key = new Key(run, after / CHUNK_SIZE);
        long before = key.number * CHUNK_SIZE;
        Chunk chunk = kept.get(key, Chunk::new);
        chunk.reading.lockInterruptibly();
        try {
            if (before + chunk.read < to) {
                int missing = (int) (to - before - chunk.read);
                long grown = 0;
                for (ObjectNode event : source.read(run, before + chunk.read, missing)) {
                    long seq = event.get("seq").longValue();
                    if (seq <= to) { // exported events are not in the table; later ones come in their place
                        byte[] text = EventTexts.numbered(event);
                        chunk.texts[(int) (seq - before - 1)] = text;
                        grown += text.length;
                    }
                }
                chunk.read = (int) (to - before);
                kept.grow(key, chunk, grown);
            }
            return part(chunk, before, after, to);
        } finally {
            chunk.reading.unlock();
        }
    }

    private static Part part(Chunk chunk, long before, long after, long to) {
        List<byte[]> texts = new ArrayList<>();
        int size = 0;
        for (long seq = after; seq < to; seq++) {
            byte[] event = chunk.texts[(int) (seq - before)];
            if (size > 0 && size + event.length > PART_BYTES) {
                return new Part(texts, seq);
            }
            texts.add(event);
            size += event.length;
        }
        return new Part(texts, to);
    }

    /** Forgets all chunks: the database may have other events. */
    void clear() {
        kept.clear();
    }

    /** Cached bytes. */
    long bytes() {
        return kept.bytes();
    }
}
