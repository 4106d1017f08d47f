package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Page;
import java.util.function.Function;
import tools.jackson.databind.node.ObjectNode;

/** A page of rows with an increasing {@code seq}: it starts after a number or a cursor. */
public final class SeqPage {

    private final ListCursor cursor;
    private final long after;
    private final int limit;

    public SeqPage(String list, Query query) {
        this.cursor = new ListCursor(list);
        Long position = cursor.read(query, Long::valueOf);
        long named = query.integer("after", 0);
        this.after = position == null ? named : position;
        this.limit = query.limit();
    }

    public long after() {
        return after;
    }

    public int limit() {
        return limit;
    }

    public ApiResponse answer(Page<ObjectNode> rows) {
        return ApiResponse.ok(Lists.page(rows, cursor, row -> row.get("seq").asString(), Function.identity()));
    }
}
