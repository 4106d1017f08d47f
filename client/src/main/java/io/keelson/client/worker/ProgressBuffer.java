package io.keelson.client.worker;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Collects what a handler reports until a heartbeat takes it along. */
final class ProgressBuffer {

    private static final int MAX_LINES = 1_000;

    private final Deque<String> logs = new ArrayDeque<>();
    private @Nullable JsonNode progress;
    private @Nullable JsonNode details;

    synchronized void progress(JsonNode value) {
        progress = value;
    }

    synchronized void details(JsonNode value) {
        details = value;
    }

    synchronized void log(String line) {
        logs.addLast(line);
        if (logs.size() > MAX_LINES) {
            logs.removeFirst();
        }
    }

    synchronized boolean isEmpty() {
        return progress == null && details == null && logs.isEmpty();
    }

    synchronized ProgressUpdate take() {
        ProgressUpdate progressUpdate = new ProgressUpdate(progress, details, List.copyOf(logs));
        progress = null;
        details = null;
        logs.clear();
        return progressUpdate;
    }

    /** Puts back what did not reach the server, before what has come since. */
    synchronized void putBack(ProgressUpdate progressUpdate) {
        progress = progress == null ? progressUpdate.progress() : progress;
        details = details == null ? progressUpdate.details() : details;
        for (int i = progressUpdate.logs().size() - 1; i >= 0 && logs.size() < MAX_LINES; i--) {
            logs.addFirst(progressUpdate.logs().get(i));
        }
    }
}
