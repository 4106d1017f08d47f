package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Page;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The answered part of a list that is read as a whole: the whole list, or {@code limit} items from {@code cursor} on. A
 * cursor is a position in the list, so items added or removed before it shift the next page.
 */
public final class ListPage {

    private final ListCursor cursor;
    private final int from;
    private final int limit;

    /** @param list the list's name, as {@link ListCursor} wants it */
    public ListPage(ApiRequest request, String list) {
        Query query = request.query();
        cursor = new ListCursor(list);
        Integer given = cursor.read(query, Integer::parseUnsignedInt);
        from = given == null ? 0 : given;
        limit = query.limit();
    }

    /** The place of the page's first item. */
    public int from() {
        return from;
    }

    /** At most so many items. */
    public int limit() {
        return limit;
    }

    /** A page that was read from that place on. */
    public ApiResponse part(Page<? extends JsonNode> page) {
        return ApiResponse.ok(Lists.page(page.items(),
                page.more() ? cursor.write(Integer.toString(from + page.items().size())) : null));
    }

    public ApiResponse of(List<? extends JsonNode> items) {
        return ApiResponse.ok(page(items));
    }

    public ObjectNode page(List<? extends JsonNode> items) {
        int begin = Math.min(from, items.size());
        List<? extends JsonNode> shown = items.subList(begin, begin + Math.min(limit, items.size() - begin));
        int end = begin + shown.size();
        return Lists.page(shown, end == items.size() ? null : cursor.write(Integer.toString(end)));
    }
}
