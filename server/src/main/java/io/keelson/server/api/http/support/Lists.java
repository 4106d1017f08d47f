package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Documents of lists: {@code {"items":[…],"next_cursor":null}}. */
public final class Lists {

    private Lists() {}

    public static ObjectNode page(List<? extends JsonNode> items, @Nullable String nextCursor) {
        ObjectNode page = Json.object();
        var array = page.putArray("items");
        items.forEach(array::add);
        return page.put("next_cursor", nextCursor);
    }

    /**
     * A page of rows.
     *
     * @param place an item's place in the list, from which the next page starts
     */
    public static <T> ObjectNode page(Page<T> page, ListCursor cursor, Function<? super T, String> place,
            Function<? super T, ? extends JsonNode> document) {
        return page(page.items().stream().map(document).toList(),
                page.more() ? cursor.write(place.apply(page.last())) : null);
    }

    /** A page of the API's records. */
    public static <T extends Record> ObjectNode page(Page<T> page, ListCursor cursor,
            Function<? super T, String> place) {
        return page(page, cursor, place, Json::document);
    }

    /** A list of the API's records that is answered in one page. */
    public static ApiResponse wholeOf(List<? extends Record> items) {
        return whole(items.stream().map(Json::document).toList());
    }

    /** Adds {@code omitted}: the name of a member whose value is too large for a list and becomes null, if it is. */
    public static ObjectNode omitted(ObjectNode item, String member, boolean tooLarge) {
        ArrayNode omitted = item.putArray("omitted");
        if (tooLarge) {
            item.putNull(member);
            omitted.add(member);
        }
        return item;
    }

    /** A list that is answered in one page. */
    public static ApiResponse whole(List<? extends JsonNode> items) {
        return ApiResponse.ok(page(items, null));
    }
}
