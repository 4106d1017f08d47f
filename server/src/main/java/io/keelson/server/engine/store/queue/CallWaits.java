package io.keelson.server.engine.store.queue;

import io.keelson.core.run.CallWait;
import io.keelson.server.base.db.Rows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Reads {@code call_waits}, which commits write. Each method uses the given connection. */
public final class CallWaits {

    /** A call and its step. */
    public record Stored(UUID stepId, UUID workspaceId, CallWait call) {}

    private static final String FIND = "select * from call_waits where step_id = ?";
    /** Calls of steps that have ended or are no more, at most 500. */
    private static final String ENDED = """
            with ended as (
                select w.step_id, s.state as step_state
                  from call_waits w left join orchestration_steps s on s.id = w.step_id
                 where s.id is null or s.state in ('completed', 'failed', 'cancelled', 'skipped')
                 order by w.since limit 500 for update of w skip locked),
            removed as (
                delete from call_waits w using ended e where w.step_id = e.step_id returning w.*, e.step_state)
            select * from removed where remote_task is not null and step_state is distinct from 'completed'""";

    private CallWaits() {}

    /** The wait of the step's call. */
    public static Optional<CallWait> find(Connection c, UUID step) throws SQLException {
        try (PreparedStatement find = c.prepareStatement(FIND)) {
            find.setObject(1, step);
            return Rows.all(find, CallWaits::stored).stream().map(Stored::call).findFirst();
        }
    }

    /** Removes calls whose step has ended, and returns the calls that leave a remote task behind. */
    public static List<Stored> takeEnded(Connection c) throws SQLException {
        try (PreparedStatement ended = c.prepareStatement(ENDED)) {
            return Rows.all(ended, CallWaits::stored);
        }
    }

    private static Stored stored(ResultSet row) throws SQLException {
        return new Stored(row.getObject("step_id", UUID.class), row.getObject("workspace_id", UUID.class),
                new CallWait(CallWait.State.of(row.getString("state")), row.getString("system"), row.getString("tool"),
                        row.getString("server_state"), row.getString("remote_task"), row.getString("questions"),
                        row.getString("answers"), row.getInt("rounds")));
    }
}
