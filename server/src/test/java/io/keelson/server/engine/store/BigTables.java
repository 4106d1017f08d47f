package io.keelson.server.engine.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Tables with many runs in them, made set-wise. */
final class BigTables {

    /** Where the rows of a run are. */
    private static final Map<String, String> OF_RUN = Map.ofEntries(
            Map.entry("orchestration_runs", "t.id = '%s'"),
            Map.entry("run_heads", "t.run_id = '%s'"),
            Map.entry("run_attempts", "t.run_id = '%s'"),
            Map.entry("run_agents", "t.run_id = '%s'"),
            Map.entry("orchestration_tasks", "t.run_id = '%s'"),
            Map.entry("orchestration_task_dependencies",
                    "t.task_id in (select id from orchestration_tasks where run_id = '%s')"),
            Map.entry("task_steps", "t.run_id = '%s'"),
            Map.entry("run_event_packs", "t.run_id = '%s'"),
            Map.entry("step_results", "t.run_id = '%s'"),
            Map.entry("artifacts", "t.run_id = '%s'"),
            Map.entry("work_queue", "t.run_id = '%s'"),
            Map.entry("timers", "t.run_id = '%s'"));

    private BigTables() {}

    /**
     * Adds the copies of a run that have those numbers, made a millisecond after each other. Every id in them but the
     * workspace's is another.
     */
    static void copy(Connection c, UUID run, int first, int last) throws SQLException {
        RunFixtures.execute(c, "set session_replication_role = replica");
        for (Map.Entry<String, String> table : OF_RUN.entrySet()) {
            List<String> columns = RunFixtures.query(c, """
                    select column_name from information_schema.columns
                     where table_schema = 'public' and table_name = ?
                       and coalesce(column_default, '') not like 'nextval%' and udt_name <> 'xid8'
                     order by ordinal_position""", table.getKey());
            List<String> ids = RunFixtures.query(c, """
                    select column_name from information_schema.columns
                     where table_schema = 'public' and table_name = ? and udt_name = 'uuid'
                       and column_name <> 'workspace_id'""", table.getKey());
            List<String> values = columns.stream().map(name -> {
                if (ids.contains(name)) {
                    return "md5(t." + name + "::text || n)::uuid";
                }
                return "t." + name + (name.equals("created_at") ? " + n * interval '1 ms'" : "");
            }).toList();
            RunFixtures.execute(c, "insert into " + table.getKey() + " (" + String.join(", ", columns) + ") select "
                    + String.join(", ", values) + " from " + table.getKey() + " t, generate_series(" + first + ", "
                    + last + ") n where " + table.getValue().formatted(run));
        }
        RunFixtures.execute(c, "set session_replication_role = origin");
    }
}
