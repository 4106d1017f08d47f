package io.keelson.client;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A part of a list.
 *
 * @param nextCursor where the next part begins, opaque; null when this is the last one
 */
public record Page<T>(List<T> items, @Nullable String nextCursor) {

    public Page {
        items = List.copyOf(items);
    }

    static <T> Page<T> of(JsonNode document, Class<T> type) {
        List<T> items = document.path("items").valueStream().map(item -> Json.document(item, type)).toList();
        return new Page<>(items, document.path("next_cursor").asString(null));
    }

    /** The items of all pages; {@code read} gets each page's cursor, null for the first. */
    static <T> List<T> all(Function<@Nullable String, Page<T>> read) {
        Page<T> page = read.apply(null);
        List<T> items = new ArrayList<>(page.items());
        while (page.nextCursor() != null) {
            page = read.apply(page.nextCursor());
            items.addAll(page.items());
        }
        return items;
    }
}
