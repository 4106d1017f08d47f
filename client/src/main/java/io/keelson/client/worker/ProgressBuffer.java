package io.keelson.client.worker;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Collects a handler's reports until the next heartbeat. */
final class ProgressBuffer {

    private static final int MAX_LINES = 1_000;

    private final Deque<String> logs = new ArrayDeque<>();
    private @Nullable JsonNode progress;
    private @Nullable JsonNode details;
    private @Nullable ObjectNode usage;

    synchronized void progress(JsonNode value) {
        progress = value;
    }

    synchronized void details(JsonNode value) {
        details = value;
    }

    /** The use in all; null takes nothing back. */
    synchronized void usage(ObjectNode value) {
        usage = value;
    }

    synchronized void log(String line) {
        logs.addLast(line);
        if (logs.size() > MAX_LINES) {
            logs.removeFirst();
        }
    }

    synchronized boolean isEmpty() {
        return progress == null && details == null && usage == null && logs.isEmpty();
    }

    synchronized ProgressUpdate take() {
        ProgressUpdate progressUpdate = new ProgressUpdate(progress, details, usage, List.copyOf(logs));
        progress = null;
        details = null;
        usage = null;
        logs.clear();
        return progressUpdate;
    }

    /** Takes the notes that a final report may have. Details stay, for a next execution only. */
    synchronized ProgressUpdate takeNotes() {
        JsonNode kept = details;
        ProgressUpdate all = take();
        details = kept;
        return new ProgressUpdate(all.progress(), null, null, all.logs());
    }

    /** Puts back notes that did not reach the server, before newer ones. */
    synchronized void putBack(ProgressUpdate progressUpdate) {
        progress = progress == null ? progressUpdate.progress() : progress;
        details = details == null ? progressUpdate.details() : details;
        usage = usage == null ? progressUpdate.usage() : usage;
        for (int i = progressUpdate.logs().size() - 1; i >= 0 && logs.size() < MAX_LINES; i--) {
            logs.addFirst(progressUpdate.logs().get(i));
        }
    }
}
