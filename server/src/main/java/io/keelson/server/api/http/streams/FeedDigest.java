package io.keelson.server.api.http.streams;

import io.keelson.server.base.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The runs and tasks of the events of a short time, instead of these events. Not thread-safe. */
final class FeedDigest {

    /** Maximum tasks of a run that are named. */
    private static final int MAX_TASKS = 200;

    private static final class Run {
        private final Set<String> types = new TreeSet<>();
        private final Set<String> tasks = new TreeSet<>();
        private long seq;
        private int events;
    }

    private final Map<UUID, Run> runs = new LinkedHashMap<>();
    private long last;

    boolean isEmpty() {
        return runs.isEmpty();
    }

    void add(FeedChunkCache.Piece piece) {
        Run run = runs.computeIfAbsent(piece.run(), _ -> new Run());
        run.types.add(piece.eventType());
        run.seq = piece.seq();
        run.events++;
        if (piece.task() != null && run.tasks.size() <= MAX_TASKS) {
            run.tasks.add(piece.task());
        }
        last = piece.id();
    }

    /** The id of the last event in it. */
    long last() {
        return last;
    }

    /** The text for the stream; the digest is empty then. */
    byte[] take() {
        ObjectNode data = Json.object().put("type", "digest");
        ArrayNode all = data.putArray("runs");
        runs.forEach((id, run) -> {
            ObjectNode row = all.addObject().put("run_id", id.toString()).put("last_seq", run.seq).put("events",
                    run.events);
            ArrayNode types = row.putArray("types");
            run.types.forEach(types::add);
            ArrayNode tasks = row.putArray("task_ids");
            if (run.tasks.size() <= MAX_TASKS) {
                run.tasks.forEach(tasks::add);
            }
        });
        runs.clear();
        return EventTexts.text(Long.toString(last), data);
    }
}
