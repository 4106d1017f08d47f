package io.keelson.server.http.support;

import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** A page of rows with an increasing {@code seq}: it starts after a number or a cursor. */
public final class SeqPage {

    private final ListCursor cursor;
    private final long after;
    private final int limit;

    public SeqPage(String list, Query query, String afterName) {
        this.cursor = new ListCursor(list);
        Long position = cursor.read(query, Long::valueOf);
        long named = query.integer(afterName, 0, Long.MAX_VALUE, 0);
        this.after = position == null ? named : position;
        this.limit = query.limit();
    }

    public long after() {
        return after;
    }

    /** One more than is shown, to learn whether there is a next page. */
    public int toRead() {
        return limit + 1;
    }

    public ApiResponse answer(List<ObjectNode> rows) {
        if (rows.size() <= limit) {
            return Lists.whole(rows);
        }
        List<ObjectNode> shown = rows.subList(0, limit);
        return ApiResponse.ok(Lists.page(shown, cursor.write(shown.getLast().get("seq").asString())));
    }
}
