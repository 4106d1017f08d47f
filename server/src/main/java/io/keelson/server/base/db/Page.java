package io.keelson.server.base.db;

import java.util.List;

/**
 * The next items of a list.
 *
 * @param more whether the list continues after the last item
 */
public record Page<T>(List<T> items, boolean more) {

    public Page {
        items = List.copyOf(items);
    }

    public T last() {
        return items.getLast();
    }
}
