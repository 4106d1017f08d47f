package io.keelson.server.engine.store.retention;

import io.keelson.core.lifecycle.RunState;
import io.keelson.server.base.db.DbClock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Deletes runs from all reads, for good; their rows and ledger entries stay. Raises the version of the run's head under
 * the lock of commits. A command that was decided on an older view is therefore decided again, and finds no run.
 */
public final class RunDeletion {

    private static final String LOCK = "select from run_heads where run_id = ? for no key update";

    private static final String STATE = """
            select r.state, r.deleted_at is not null as deleted
              from orchestration_runs r
             where (r.workspace_id = ?) is true and r.id = ?""";

    private static final String HIDE = now("""
            update orchestration_runs set deleted_at = {now}, external_id = null where id = ?""");

    /** Informs the parent, which may wait for the run's own children. */
    private static final String TELL_PARENT = now("""
            insert into timers (kind, subject, run_id, due_at)
            select 'evaluate_child', parent_step_id, parent_run_id, {now} from run_parents where run_id = ?
            on conflict (kind, subject) do update set due_at = excluded.due_at""");

    /** Informs the run that waits until this one is undone. */
    private static final String TELL_WAITER = now("""
            insert into timers (kind, subject, run_id, due_at)
            select 'evaluate_child_undo', run_id, waiter_run_id, {now} from run_undos
             where run_id = ? and waiter_run_id is not null
            on conflict (kind, subject) do update set due_at = excluded.due_at""");

    private static final String RAISE = "update run_heads set version_id = version_id + 1 where run_id = ?";

    private static final String DISARM = "delete from timers where run_id = ?";

    private static final String END_ARTIFACTS = now("""
            update artifacts set deleted_at = {now} where run_id = ? and deleted_at is null""");

    private static final String DROP_TASKS = """
            delete from board_tasks where source_type = 'orchestration_task' and parent_task_id = (
                select b.id from board_tasks b where b.source_type = 'orchestration' and b.source_id = ?)""";

    private static final String DROP_BOARD = """
            delete from board_tasks where source_type = 'orchestration' and source_id = ?""";

    private static final String DROP_REPORTS = "delete from agent_reports where run_id = ?";

    private final DbClock clock;

    public RunDeletion(DbClock clock) {
        this.clock = clock;
    }

    /** @param deleted whether it was already deleted; nothing was done then */
    public record Found(RunState state, boolean deleted) {}

    private static String now(String sql) {
        return sql.replace("{now}", DbClock.SQL);
    }

    /**
     * Deletes an ended run; does not change an open one. Releases its external id.
     *
     * @return the run as found; empty if unknown in the workspace
     */
    public Optional<Found> delete(Connection c, UUID workspace, UUID run) throws SQLException {
        execute(c, LOCK, run, false);
        @Nullable Found found = look(c, workspace, run);
        if (found != null && found.state.terminal() && !found.deleted) {
            execute(c, HIDE, run, true);
            execute(c, RAISE, run, false);
            execute(c, DISARM, run, false);
            execute(c, TELL_PARENT, run, true);
            execute(c, TELL_WAITER, run, true);
            execute(c, END_ARTIFACTS, run, true);
            execute(c, DROP_TASKS, run.toString(), false);
            execute(c, DROP_BOARD, run.toString(), false);
            execute(c, DROP_REPORTS, run, false);
        }
        return Optional.ofNullable(found);
    }

    private static @Nullable Found look(Connection c, UUID workspace, UUID run) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(STATE)) {
            statement.setObject(1, workspace);
            statement.setObject(2, run);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new Found(RunState.of(row.getString("state")), row.getBoolean("deleted")) : null;
            }
        }
    }

    private void execute(Connection c, String sql, Object id, boolean timed) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            if (timed) {
                clock.bind(statement, 1);
            }
            statement.setObject(timed ? 2 : 1, id);
            statement.execute();
        }
    }
}
