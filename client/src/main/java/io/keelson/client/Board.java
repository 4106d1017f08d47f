package io.keelson.client;

import io.keelson.api.outlet.BoardColumn;
import io.keelson.api.outlet.BoardTask;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * The work board: one task for each run, one below it for each of the run's tasks, and what people put there. Every method
 * throws {@link KeelsonException} as {@link Api} says.
 */
public final class Board {

    private final Api api;

    Board(Api api) {
        this.api = api;
    }

    /** All columns with their first tasks; the query's status and cursor do not count. */
    public List<BoardColumn> columns(BoardQuery query) {
        return Json.document(document(query), BoardColumn.All.class).columns();
    }

    /** Reads the board as the API's document. */
    public JsonNode document(BoardQuery query) {
        return api.get(query.on(RequestPath.of("/board")).toString());
    }

    /** Lists board tasks, newest first. */
    public Page<BoardTask> tasks(BoardQuery query) {
        RequestPath route =
                query.on(RequestPath.of("/board/tasks")).with("status", query.status()).with("cursor", query.cursor());
        return Page.of(api.get(route.toString()), BoardTask.class);
    }

    /** Reads a board task. */
    public BoardTask get(long id) {
        return Json.document(api.get(at(id).toString()), BoardTask.class);
    }

    /** Creates a board task. */
    public BoardTask create(BoardTaskRequest task) {
        return Json.document(api.send(Call.post(RequestPath.of("/board/tasks"), task.body()).keyed(null)).body(),
                BoardTask.class);
    }

    /** @throws KeelsonException {@code BOARD_TASK_READ_ONLY} for a change of a run's board task, except its priority */
    public BoardTask change(long id, BoardTaskRequest change) {
        Call call = Call.of("PATCH", at(id), change.body()).repeatable();
        return Json.document(api.send(call).body(), BoardTask.class);
    }

    /** Its parts stay, as tasks of their own. */
    public void remove(long id) {
        api.send(Call.of("DELETE", at(id), null));
    }

    private static RequestPath at(long id) {
        return RequestPath.of("/board/tasks/", Long.toString(id));
    }
}
