package io.keelson.api.outlet;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Ref;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column of the work board.
 *
 * @param status status of its tasks
 * @param count number of its tasks, at most 1,000
 * @param more whether there are more tasks than counted
 * @param items its newest tasks
 * @param nextCursor start of the next page of {@code GET /board/tasks} with this status; null on the last one
 */
public record BoardColumn(@Ref("BoardStatus") String status, int count, boolean more, List<BoardTask> items,
        @Nullable String nextCursor) {

    public BoardColumn {
        items = Absent.asEmpty(items);
    }

    /**
     * The columns of the work board.
     *
     * @param columns a column for each status
     */
    public record All(List<BoardColumn> columns) {}
}
