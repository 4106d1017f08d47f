package io.keelson.server.http;

import io.keelson.core.lifecycle.Circumstance;
import io.keelson.core.lifecycle.Contracts;
import io.keelson.core.lifecycle.RunState;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Stretches of runs' events as text for event streams. What has happened does not change, so that many who watch one run
 * are sent the same text, which is read from the database once.
 */
final class EventTexts {

    static final int STRETCH = 256;
    private static final int MOST_KEPT = 128;

    /** Events after one up to and with another; a run's events are numbered without a gap. */
    private record Key(UUID run, long after, long to) {}

    /** Reads the events after one, in order. */
    interface Source {
        List<ObjectNode> read(UUID run, long after, int limit);
    }

    private final Map<Key, FutureTask<byte[]>> kept = new LinkedHashMap<>(MOST_KEPT, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, FutureTask<byte[]>> eldest) {
            return size() > MOST_KEPT;
        }
    };

    /** Where the stretch ends that begins after that event: all begin and end at the same numbers but for the last. */
    static long end(long after, long last) {
        return Math.min(last, (after / STRETCH + 1) * STRETCH);
    }

    /** The events after one up to and with another, all of which are committed. */
    byte[] of(UUID run, long after, long to, Source source) throws InterruptedException {
        Key key = new Key(run, after, to);
        FutureTask<byte[]> text;
        synchronized (kept) {
            text = kept.computeIfAbsent(key,
                    missing -> new FutureTask<>(() -> text(source.read(run, after, (int) (to - after)))));
        }
        text.run();
        try {
            return text.get();
        } catch (ExecutionException e) {
            synchronized (kept) {
                kept.remove(key, text);
            }
            throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e);
        }
    }

    private static byte[] text(List<ObjectNode> events) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (ObjectNode event : events) {
            ObjectNode data = named(event);
            text.writeBytes(("id: " + event.get("seq").asString() + "\nevent: " + data.get("type").stringValue()
                    + "\ndata: ").getBytes(StandardCharsets.UTF_8));
            text.writeBytes(Json.write(data));
            text.writeBytes("\n\n".getBytes(StandardCharsets.UTF_8));
        }
        return text.toByteArray();
    }

    /** The event with what the run lifecycle contract shows before it (run-lifecycle §4.3): its type, and what of. */
    private static ObjectNode named(ObjectNode event) {
        ObjectNode data = Json.object();
        String type = event.get("event_type").stringValue();
        JsonNode to = event.path("payload").path("to");
        if (event.get("task_id").isNull() && event.get("agent_id").isNull() && to.isString()) {
            data.put("type", "run.status.changed").set("runId", event.get("run_id"));
            data.put("status", Contracts.LIFECYCLE.run().of(RunState.of(to.stringValue()), Circumstance.USUAL));
        } else if (type.equals("step_completed")) {
            data.put("type", "run.step.completed").set("runId", event.get("run_id"));
            data.set("step", event.get("step_id"));
        } else {
            data.put("type", type).set("runId", event.get("run_id"));
        }
        data.setAll(event);
        return data;
    }
}
