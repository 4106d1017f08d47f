package io.keelson.client;

import io.keelson.api.outlet.BoardTask;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column of the work board.
 *
 * @param count of its tasks, counted to 1,000
 * @param more whether there are more than that
 * @param items the newest of them
 * @param nextCursor cursor of the next page of {@link Board#tasks} with this status; null if complete
 */
public record BoardColumn(String status, int count, boolean more, List<BoardTask> items, @Nullable String nextCursor) {

    public BoardColumn {
        items = List.copyOf(items);
    }
}
