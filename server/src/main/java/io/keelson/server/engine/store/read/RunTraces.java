package io.keelson.server.engine.store.read;

import io.keelson.core.run.TraceParent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;

/** Joins a run without a trace to the trace of the caller that starts it. */
public final class RunTraces {

    private static final String LOCK = "select from run_heads where run_id = ? for no key update";

    private static final String JOIN = """
            update orchestration_runs
               set origin = case when origin is null then '{}' else origin end
                       || jsonb_build_object('traceparent', ?::text)
             where id = ? and (workspace_id = ?) is true and (state = 'created') is true and deleted_at is null
               and (origin ->> 'traceparent') is null""";

    /** Invalidates cached views, which do not contain the trace. */
    private static final String RAISE = "update run_heads set version_id = version_id + 1 where run_id = ?";

    private RunTraces() {}

    /** Changes nothing if the run has started or has a trace. */
    public static void join(Connection c, UUID workspace, UUID run, TraceParent trace) throws SQLException {
        try (PreparedStatement lock = c.prepareStatement(LOCK)) {
            lock.setObject(1, run);
            try (ResultSet row = lock.executeQuery()) {
                if (!row.next()) {
                    return;
                }
            }
        }
        try (PreparedStatement join = c.prepareStatement(JOIN); PreparedStatement raise = c.prepareStatement(RAISE)) {
            join.setString(1, trace.text());
            join.setObject(2, run);
            join.setObject(3, workspace);
            if (join.executeUpdate() > 0) {
                raise.setObject(1, run);
                raise.executeUpdate();
            }
        }
    }
}
