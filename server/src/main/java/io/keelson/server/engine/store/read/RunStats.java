package io.keelson.server.engine.store.read;

import io.keelson.api.run.RunTotals;
import io.keelson.server.base.db.RecordColumns;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Counts, durations and charges of the runs that match a filter, in groups. */
public final class RunStats {

    /** Groups of runs. */
    public enum By {
        STATE("r.state"), RECIPE("r.origin ->> 'recipe_id'"), ERROR_CODE("r.error_code"),
        HOUR("to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:00:00\"Z\"')");

        private final String sql;

        By(String sql) {
            this.sql = sql;
        }
    }

    /** The newest runs that are counted. */
    public static final int MAX_RUNS = 50_000;

    private static final int MAX_GROUPS = 500;

    private static final String STATS = """
            select {by} as key, count(*)::int as count, (count(*) filter (where r.state_type <> 'terminal'))::int as open,
                (count(*) filter (where r.state = 'completed'))::int as completed,
                (count(*) filter (where r.state = 'failed'))::int as failed,
                (percentile_disc(0.5) within group (order by r.duration_ms))::bigint as duration_ms_p50,
                (percentile_disc(0.95) within group (order by r.duration_ms))::bigint as duration_ms_p95,
                trim_scale(coalesce(sum(r.credits_charged_before + h.credits_charged), 0)) as credits_charged
              from (select r.* from orchestration_runs r
                     where r.workspace_id = ? and r.deleted_at is null{filter}
                     order by r.created_at desc limit ?) r
              join run_heads h on h.run_id = r.id
             group by 1
             order by 2 desc, 1
             limit ?""";

    private RunStats() {}

    /** The groups of the runs that match. */
    public static RunTotals of(Connection c, UUID workspace, RunSelection filter, By by) throws SQLException {
        try (PreparedStatement stats = c
                .prepareStatement(STATS.replace("{by}", by.sql).replace("{filter}", filter.sql()))) {
            stats.setObject(1, workspace);
            int p = filter.bind(stats, 2);
            stats.setInt(p++, MAX_RUNS);
            stats.setInt(p, MAX_GROUPS);
            List<RunTotals.Group> groups = new ArrayList<>();
            try (ResultSet rows = stats.executeQuery()) {
                while (rows.next()) {
                    groups.add(RecordColumns.of(RunTotals.Group.class).read(rows));
                }
            }
            int runs = groups.stream().mapToInt(RunTotals.Group::count).sum();
            return new RunTotals(groups, runs < MAX_RUNS && groups.size() < MAX_GROUPS);
        }
    }
}
