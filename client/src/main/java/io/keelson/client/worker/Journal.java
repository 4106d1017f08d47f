package io.keelson.client.worker;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Collects what a handler reports until a heartbeat takes it along. */
final class Journal {

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

    synchronized News take() {
        News news = new News(progress, details, List.copyOf(logs));
        progress = null;
        details = null;
        logs.clear();
        return news;
    }

    /** Puts back what did not reach the server, before what has come since. */
    synchronized void putBack(News news) {
        progress = progress == null ? news.progress() : progress;
        details = details == null ? news.details() : details;
        for (int i = news.logs().size() - 1; i >= 0 && logs.size() < MAX_LINES; i--) {
            logs.addFirst(news.logs().get(i));
        }
    }
}
