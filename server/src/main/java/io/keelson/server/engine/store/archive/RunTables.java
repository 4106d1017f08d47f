package io.keelson.server.engine.store.archive;

import java.util.List;

/** The tables with rows of a run, in the order of their insertion; rows are deleted in the opposite order. */
final class RunTables {

    private static final String TASKS = "select k.id from orchestration_tasks k where k.run_id = ?";

    private static final String STEPS = """
            select s.id from orchestration_tasks k join task_steps s on s.task_id = k.id where k.run_id = ?""";

    /** Ids of the board's tasks about the run and its tasks. */
    private static final String BOARD =
            """
            select b.id from board_tasks b
             where b.source_type = 'orchestration' and b.source_id = ?::text
            union all
            select c.id from board_tasks b join board_tasks c on c.parent_task_id = b.id
             where b.source_type = 'orchestration' and b.source_id = ?::text and c.source_type = 'orchestration_task'""";

    /**
     * A table.
     *
     * @param column the column that finds the rows
     * @param ids a query of its values, whose parameters are all the run's id; empty if the run's id is the value
     */
    record Table(String name, String column, String ids) {

        private Table(String name) {
            this(name, "run_id", "");
        }

        /** The condition on a row {@code t}. */
        String condition() {
            return ids.isEmpty() ? "t." + column + " = ?" : "t." + column + " = any (array(" + ids + "))";
        }

        /** The number of parameters of the condition, all the run's id. */
        int parameters() {
            return ids.isEmpty() ? 1 : (int) ids.chars().filter(c -> c == '?').count();
        }

        /** Events are deleted by their function only. */
        boolean events() {
            return name.startsWith("run_event_packs");
        }
    }

    static final List<Table> ALL = List.of(new Table("orchestration_runs", "id", ""), new Table("run_heads"),
            new Table("run_attempts"), new Table("run_agents"), new Table("run_plans"), new Table("run_parents"),
            new Table("run_children"), new Table("task_budgets"), new Table("run_signals"),
            new Table("run_tool_versions"), new Table("run_undos"), new Table("approval_votes"),
            new Table("board_tasks", "id", BOARD), new Table("orchestration_tasks"),
            new Table("orchestration_task_dependencies", "task_id", TASKS), new Table("task_steps", "task_id", TASKS),
            new Table("step_results", "step_id", STEPS), new Table("step_logs", "step_id", STEPS),
            new Table("step_progress", "step_id", STEPS), new Table("task_rounds", "loop_id", TASKS),
            new Table("agent_reports"), new Table("artifacts"), new Table("escalation_tickets"),
            new Table("proposals"), new Table("inbox_assignments"), new Table("call_waits"),
            new Table("gateway_tokens"), new Table("gateway_requests"), new Table("run_event_packs"),
            new Table("run_event_packs_archive"), new Table("event_exports"));

    private RunTables() {}
}
