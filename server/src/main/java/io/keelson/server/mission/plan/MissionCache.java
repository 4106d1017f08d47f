package io.keelson.server.mission.plan;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Valid missions by the bytes that they were read from. Tools of workers and prices of models are asked for at each use; a
 * mission that took its agents from the roster is not kept. Bounded by the length of the bytes. Thread-safe.
 */
public final class MissionCache {
    /** Maximum bytes of all kept documents. */
    private static final long MAX_BYTES = 2L << 20;
    private static final int LARGEST = 64 << 10;
    /** Bytes of a kept mission apart from its document. */
    private static final int OVERHEAD = 1 << 10;

    /** @param sha256 of the document as it was received */
    public record Key(UUID workspace, Format format, String sha256, int bytes) {

        /** The key of a document. */
        public static Key of(UUID workspace, Format format, byte[] document) {
            try {
                return new Key(workspace, format,
                        HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(document)),
                        document.length);
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private record Kept(CheckedMission mission, MissionNeeds needs) {}

    private final Cache<Key, Kept> kept = Caffeine.newBuilder().maximumWeight(MAX_BYTES)
            .weigher((Key key, Kept mission) -> key.bytes + OVERHEAD).executor(Runnable::run).build();
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    /**
     * The mission of an equal document; null where none is kept, or one of its tools or prices is not there any more.
     *
     * @param reader of the key's workspace
     */
    public @Nullable CheckedMission find(Key key, MissionReader reader) {
        Kept found = kept.getIfPresent(key);
        boolean hit = found != null && reader.meets(found.needs);
        (hit ? hits : misses).increment();
        return hit && found != null ? found.mission : null;
    }

    /**
     * Reads a document and keeps a valid mission.
     *
     * @param document of the key's bytes; not changed
     */
    public ReadResult<CheckedMission> read(Key key, JsonNode document, MissionReader reader) {
        MissionNeeds needs = new MissionNeeds();
        ReadResult<CheckedMission> result = reader.read(document, needs);
        if (result instanceof ReadResult.Ok<CheckedMission>(CheckedMission mission) && needs.areAll()
                && key.bytes <= LARGEST) {
            kept.put(key, new Kept(mission, needs));
        }
        return result;
    }

    /** Requests whose mission was kept. */
    public long hits() {
        return hits.sum();
    }

    /** Requests whose mission was read. */
    public long misses() {
        return misses.sum();
    }
}
