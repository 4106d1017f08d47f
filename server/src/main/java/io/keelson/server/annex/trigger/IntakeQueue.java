package io.keelson.server.annex.trigger;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Requests whose events wait to be stored, within bounds. Workspaces take turns, and one workspace has at most half of the places and of
 * the text. Thread-safe.
 */
final class IntakeQueue<R> {

    private static final int MAX_TAKEN = 256;
    private static final long MAX_TAKEN_CHARS = 4 << 20;

    private final Bounds bounds;
    /** Workspaces with requests, in the order of their turns. */
    private final Map<UUID, Line<R>> lines = new LinkedHashMap<>();
    private int requests;
    private long chars;

    IntakeQueue(Bounds bounds) {
        this.bounds = bounds;
    }

    /**
     * The most that waits.
     *
     * @param chars characters of the events
     */
    record Bounds(int requests, long chars) {

        static final Bounds DEFAULTS = new Bounds(4096, 32 << 20);

        private boolean room(int waiting, long text, long more, int shares) {
            return waiting < requests / shares && (waiting == 0 || text + more <= chars / shares);
        }
    }

    /**
     * A request.
     *
     * @param events their number
     * @param chars characters of the events
     */
    record Waiting<R>(R request, int events, long chars) {}

    private static final class Line<R> {
        private final Deque<Waiting<R>> waiting = new ArrayDeque<>();
        private long chars;
    }

    /** False without room. */
    synchronized boolean offer(UUID workspace, Waiting<R> request) {
        Line<R> line = lines.get(workspace);
        boolean room = bounds.room(requests, chars, request.chars, 1)
                && (line == null || bounds.room(line.waiting.size(), line.chars, request.chars, 2));
        if (room) {
            Line<R> own = line == null ? new Line<>() : line;
            lines.put(workspace, own);
            own.waiting.add(request);
            own.chars += request.chars;
            requests++;
            chars += request.chars;
        }
        return room;
    }

    /** Requests that are stored together, one of each workspace in turn; the first one of any size. Empty if none waits. */
    synchronized List<R> take() {
        List<R> taken = new ArrayList<>();
        int events = 0;
        long text = 0;
        while (!lines.isEmpty()) {
            Map.Entry<UUID, Line<R>> first = lines.entrySet().iterator().next();
            UUID workspace = first.getKey();
            Line<R> line = first.getValue();
            Waiting<R> next = line.waiting.element();
            events += next.events;
            text += next.chars;
            if (!taken.isEmpty() && (events > MAX_TAKEN || text > MAX_TAKEN_CHARS)) {
                break;
            }
            taken.add(line.waiting.remove().request);
            line.chars -= next.chars;
            requests--;
            chars -= next.chars;
            lines.remove(workspace);
            if (!line.waiting.isEmpty()) {
                lines.put(workspace, line);
            }
        }
        return taken;
    }

    synchronized int size() {
        return requests;
    }
}
