package io.keelson.server.api.http.streams;

import io.keelson.core.lifecycle.Circumstance;
import io.keelson.core.lifecycle.Contracts;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StateType;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.base.json.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
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
        /** Bytes counted as cached; guarded by the cached chunks. */
        private long bytes;
    }

    /** Reads the events after one, in order, with their steps' numbers. */
    interface Source {
        List<ObjectNode> read(UUID run, long after, int limit) throws InterruptedException;
    }

    private final Map<Key, Chunk> kept = new LinkedHashMap<>(MAX_KEPT, 0.75f, true);
    private final long most;
    private long bytes;

    EventChunkCache() {
        this(MAX_BYTES);
    }

    /** @param most maximum cached bytes; reads in progress come on top */
    EventChunkCache(long most) {
        this.most = most;
    }

    /** The end of the chunk that contains the event after that one, at most the last event. */
    static long end(long after, long last) {
        return Math.min(last, (after / CHUNK_SIZE + 1) * CHUNK_SIZE);
    }

    /** The first of the events after one up to and with {@link #end}, all of which are committed. */
    Part of(UUID run, long after, long to, Source source) throws InterruptedException {
        Key key = new Key(run, after / CHUNK_SIZE);
        long before = key.number * CHUNK_SIZE;
        Chunk chunk;
        synchronized (kept) {
            chunk = kept.computeIfAbsent(key, missing -> new Chunk());
        }
        chunk.reading.lockInterruptibly();
        try {
            if (before + chunk.read < to) {
                int missing = (int) (to - before - chunk.read);
                long grown = 0;
                for (ObjectNode event : source.read(run, before + chunk.read, missing)) {
                    long seq = event.get("seq").longValue();
                    if (seq <= to) { // exported events are not in the table; later ones come in their place
                        byte[] text = text(event);
                        chunk.texts[(int) (seq - before - 1)] = text;
                        grown += text.length;
                    }
                }
                chunk.read = (int) (to - before);
                keep(key, chunk, grown);
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

    private void keep(Key key, Chunk chunk, long grown) {
        synchronized (kept) {
            if (kept.get(key) == chunk) {
                chunk.bytes += grown;
                bytes += grown;
            }
            for (Iterator<Chunk> eldest = kept.values().iterator(); (bytes > most || kept.size() > MAX_KEPT)
                    && eldest.hasNext();) {
                bytes -= eldest.next().bytes;
                eldest.remove();
            }
        }
    }

    /** Forgets all chunks: the database may have other events. */
    void clear() {
        synchronized (kept) {
            kept.clear();
            bytes = 0;
        }
    }

    /** Cached bytes. */
    long bytes() {
        synchronized (kept) {
            return bytes;
        }
    }

    private static byte[] text(ObjectNode event) {
        return text(event.get("seq").asString(), named(event));
    }

    /** One event of a stream. */
    static byte[] text(String id, ObjectNode data) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        text.writeBytes(("id: " + id + "\nevent: " + data.get("type").stringValue() + "\ndata: ")
                .getBytes(StandardCharsets.UTF_8));
        text.writeBytes(Json.write(data));
        text.writeBytes("\n\n".getBytes(StandardCharsets.UTF_8));
        return text.toByteArray();
    }

    /** The event with the members that the run lifecycle contract puts before it: a type and its subject. */
    static ObjectNode named(ObjectNode event) {
        ObjectNode data = Json.object();
        String type = event.get("event_type").stringValue();
        JsonNode payload = event.path("payload");
        String status = status(type, event);
        if (status != null) {
            data.put("type", "run.status.changed").set("runId", event.get("run_id"));
            data.put("status", status);
        } else if (type.equals("step_completed")) {
            data.put("type", "run.step.completed").set("runId", event.get("run_id"));
            data.set("step", event.get("step"));
        } else if (type.equals("proposal_created")) {
            data.put("type", "proposal.created").set("runId", event.get("run_id"));
            data.put("proposalId", IdKind.PROPOSAL.prefixed(UUID.fromString(payload.get("proposal_id").stringValue())));
        } else {
            data.put("type", type).set("runId", event.get("run_id"));
        }
        data.setAll(event);
        return type.equals("step_completed") ? data : data.without(List.of("step"));
    }

    /** The run's new status in that contract's words; null where it has none. */
    private static @Nullable String status(String type, ObjectNode event) {
        JsonNode payload = event.path("payload");
        if (type.equals("run_created")) {
            return status(RunState.CREATED, Circumstance.USUAL);
        }
        if (!event.get("task_id").isNull() || !event.get("agent_id").isNull() || !payload.path("to").isString()) {
            return null;
        }
        RunState from = RunState.of(payload.path("from").stringValue());
        boolean begins = payload.path("begins").booleanValue(false);
        Circumstance before = begins ? Circumstance.NOT_BEGUN : Circumstance.USUAL;
        Circumstance after = from.type() == StateType.PENDING ? Circumstance.NOT_BEGUN : Circumstance.USUAL;
        String status = status(RunState.of(payload.path("to").stringValue()), after);
        return status.equals(status(from, before)) ? null : status;
    }

    private static String status(RunState state, Circumstance when) {
        return Contracts.LIFECYCLE.run().of(state, when);
    }
}
