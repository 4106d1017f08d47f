package io.keelson.server.run.read;

import io.keelson.server.run.read.FeedReader.Look;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Up to which id events are settled: nothing will appear at or below it any more ({@code docs/adr/0014-feed.md}). What one
 * look has seen a later one can prove. Any number of nodes may look, each for itself, and nothing is lost with one. For
 * one thread at a time.
 */
public final class FeedWatermark {

    private static final int MAX_CACHED = 256;

    private final Deque<Look> marks = new ArrayDeque<>();
    private long known = -1;
    private long settled = -1;

    /**
     * Looks.
     *
     * @return the highest id that is known to be settled; -1 as long as none is
     */
    public long look(Connection c) throws SQLException {
        return told(FeedReader.look(c, known));
    }

    /** Where a writer stays open for long, every second mark goes: the last one stays, and those between only make steps smaller. */
    long told(Look look) {
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
