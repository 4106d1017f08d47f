package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.RunUndo;
import io.keelson.core.decide.UndoRow;
import io.keelson.core.run.Command.Evaluation.UndoCounts;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

/** {@code run_undos}. */
final class UndosTable {
    static final RowSetStatement<RunUndo> PUT = new RowSetStatement<>("keelson_run_undo_2", """
            insert into run_undos (run_id, workspace_id, undo_run_id, state, tasks, undone, by_hand, not_done, not_undone,
                requested_by, reason, requested_at, error_code, error_message, waiter_run_id)
            select run_id, workspace_id, undo_run_id, state, tasks, undone, by_hand, not_done, not_undone, requested_by,
                reason, requested_at, error_code, error_message, waiter_run_id from {rows}
            on conflict (run_id) do update
               set undo_run_id = excluded.undo_run_id, state = excluded.state, tasks = excluded.tasks,
                   undone = excluded.undone, by_hand = excluded.by_hand, not_done = excluded.not_done,
                   not_undone = excluded.not_undone, requested_by = excluded.requested_by, reason = excluded.reason,
                   requested_at = excluded.requested_at, error_code = excluded.error_code,
                   error_message = excluded.error_message, waiter_run_id = excluded.waiter_run_id""",
            uuid("run_id", u -> u.run().id()), uuid("workspace_id", u -> u.run().workspaceId()),
            uuid("undo_run_id", u -> u.row().undoRun()), text("state", u -> u.row().state().wire()),
            integer("tasks", u -> u.row().tasks()), integer("undone", u -> u.row().counts().undone()),
            integer("by_hand", u -> u.row().counts().byHand()), integer("not_done", u -> u.row().counts().notDone()),
            integer("not_undone", u -> u.row().counts().notUndone()), text("requested_by", u -> u.row().requestedBy()),
            text("reason", u -> u.row().reason()), time("requested_at", u -> u.row().requestedAt()),
            text("error_code", u -> u.row().errorCode()), text("error_message", u -> u.row().errorMessage()),
            uuid("waiter_run_id", u -> u.row().waiter()));

    private static final String LOAD = """
            select run_id, undo_run_id, state, tasks, undone, by_hand, not_done, not_undone, requested_by, reason,
                requested_at, error_code, error_message, waiter_run_id
              from run_undos where run_id = any (?)""";

    private UndosTable() {}

    /** Queries only runs that have one. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.undone.isEmpty()) {
            ViewLoader.each(c, LOAD, loader.undone, row -> loader.view(row).add(new UndoRow(
                    UndoRow.State.of(row.getString("state")), ViewLoader.uuidOrNull(row, "undo_run_id"),
                    row.getInt("tasks"),
                    new UndoCounts(row.getInt("undone"), row.getInt("by_hand"), row.getInt("not_done"),
                            row.getInt("not_undone")),
                    row.getString("requested_by"), row.getString("reason"),
                    Objects.requireNonNull(Rows.optionalTime(row, "requested_at")), row.getString("error_code"),
                    row.getString("error_message"), ViewLoader.uuidOrNull(row, "waiter_run_id"))));
        }
    }
}
