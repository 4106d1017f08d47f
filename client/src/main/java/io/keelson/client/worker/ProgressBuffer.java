package io.keelson.client.worker;

import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Progress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Collects a handler's notes and use until the next heartbeat. */
final class ProgressBuffer {

    private static final int MAX_LINES = 1_000;

    private final Heartbeat empty;
    private final Deque<String> logs = new ArrayDeque<>();
    private @Nullable Progress progress;
    private @Nullable JsonNode details;
    private Heartbeat use;

    ProgressBuffer(UUID stepId, int leaseEpoch) {
        this.empty = Heartbeat.empty(stepId, leaseEpoch);
        this.use = empty;
    }

    /** A heartbeat without news. */
    Heartbeat empty() {
        return empty;
    }

    synchronized void progress(Progress value) {
        progress = value;
    }

    synchronized void details(JsonNode value) {
        details = value;
    }

    /** @param value with the sum of the use since the claim */
    synchronized void use(Heartbeat value) {
        use = value;
    }

    synchronized void log(String line) {
        logs.addLast(line);
        if (logs.size() > MAX_LINES) {
            logs.removeFirst();
        }
    }

    synchronized boolean isEmpty() {
        return progress == null && details == null && use.equals(empty) && logs.isEmpty();
    }

    synchronized Heartbeat take() {
        Heartbeat news = use.with(progress, List.copyOf(logs), details);
        progress = null;
        details = null;
        use = empty;
        logs.clear();
        return news;
    }

    /** Takes progress and logs for a final report, which has the use by itself. Details stay, for a next execution only. */
    synchronized Heartbeat takeNotes() {
        Heartbeat notes = empty.with(progress, List.copyOf(logs), null);
        progress = null;
        use = empty;
        logs.clear();
        return notes;
    }

    /** Puts back news that did not reach the server, before newer ones. */
    synchronized void putBack(Heartbeat news) {
        progress = progress == null ? news.progress() : progress;
        details = details == null ? news.details() : details;
        use = use.equals(empty) ? news.with(null, List.of(), null) : use;
        for (int i = news.logs().size() - 1; i >= 0 && logs.size() < MAX_LINES; i--) {
            logs.addFirst(news.logs().get(i));
        }
    }
}
