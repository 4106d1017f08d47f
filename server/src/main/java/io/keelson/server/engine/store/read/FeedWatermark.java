package io.keelson.server.engine.store.read;

import io.keelson.server.engine.store.read.FeedReader.Look;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Determines the id up to which events are settled: no event can appear at or below it any more
 * ({@code docs/adr/0014-feed.md}). A later check can prove the marks of an earlier one. Each node has its own; a crash
 * loses nothing. Not thread-safe.
 */
public final class FeedWatermark {

    private static final int MAX_CACHED = 256;

    private final Deque<Look> marks = new ArrayDeque<>();
    private long known = -1;
    private long settled = -1;
    private long published = -1;

    /**
     * Checks the database.
     *
     * @return the highest id known to be settled; -1 while there is none
     */
    public long look(Connection c) throws SQLException {
        return advance(FeedReader.look(c, known));
    }

    /**
     * Checks the database, and stores the result for readers by SQL if it has risen.
     *
     * @return as {@link #look}
     */
    public long publish(Connection c) throws SQLException {
        long found = look(c);
        if (found > published) {
            FeedReader.publish(c, found);
            published = found;
        }
        return found;
    }

    /**
     * While a writer stays open for long, drops every second mark: the last one stays, and those between only make
     * steps smaller.
     */
    long advance(Look look) {
        if (look.lastId() > known) {
            marks.add(look);
            known = look.lastId();
        }
        while (!marks.isEmpty() && marks.getFirst().next() <= look.openFrom()) {
            settled = Math.max(settled, marks.removeFirst().lastId());
        }
        if (marks.size() > MAX_CACHED) {
            Look[] all = marks.toArray(Look[]::new);
            marks.clear();
            for (int i = (all.length - 1) % 2; i < all.length; i += 2) {
                marks.add(all[i]);
            }
        }
        return settled;
    }
}
