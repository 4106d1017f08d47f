package io.keelson.server.http.support;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
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

    /** A list that is answered in one page. */
    public static ApiResponse whole(List<? extends JsonNode> items) {
        return ApiResponse.ok(page(items, null));
    }
}
