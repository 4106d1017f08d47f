package io.keelson.server.run;

import static io.keelson.server.run.Column.bigint;
import static io.keelson.server.run.Column.money;
import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.uuid;
import static io.keelson.server.run.Column.word;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.RunRow;
import io.keelson.core.run.TaskRow;

/**
 * {@code agent_reports} as far as runs write them (PRD-101 §7.3): one for each task that ended with an output or failed, one
 * for each attempt of a run that ended; in the transaction in which it ended, and never again. It has the figures; its text
 * is made when somebody reads it ({@link ReportTexts}), for most nobody ever does. Lists of them are {@code server.board}'s.
 */
final class ReportsTable {

    /** A task with neither an output nor a failure has no report. */
    static final SetStatement<TaskRow> INSERT_TASK = new SetStatement<>("keelson_report_task", """
            insert into agent_reports (workspace_id, subject_id, run_id, run_attempt, orchestration_task_id, report_type,
                title, agent, state, tokens, cost, duration_ms, created_at)
            select t.workspace_id, t.id, t.run_id, t.attempt, t.id, u.report_type, t.title, u.agent, t.state,
                t.tokens_used, t.cost, t.duration_ms, {now}
              from {rows}
              join orchestration_tasks t on t.id = u.task_id
             where t.state = 'failed' or t.output_summary <> 'null'
            on conflict (run_id, run_attempt, subject_id) where run_id is not null do nothing""",
            uuid("task_id", TaskRow::id), word("report_type", ReportsTable::type),
            text("agent", 255, task -> task.agent().name()));

    static final SetStatement<RunRow> INSERT_RUN = new SetStatement<>("keelson_report_run", """
            insert into agent_reports (workspace_id, subject_id, run_id, run_attempt, report_type, title, agent, state,
                tokens, cost, duration_ms, created_at)
            select r.workspace_id, r.id, r.id, r.attempt_number, u.report_type, r.title, r.agent_slug, r.state,
                u.tokens, u.cost, r.duration_ms, {now}
              from {rows}
              join orchestration_runs r on r.id = u.run_id
            on conflict (run_id, run_attempt, subject_id) where run_id is not null do nothing""",
            uuid("run_id", RunRow::id), word("report_type", r -> r.state() == RunState.FAILED ? "incident" : "summary"),
            bigint("tokens", RunRow::tokens), money("cost", RunRow::cost));

    private ReportsTable() {}

    private static String type(TaskRow task) {
        return task.state() == TaskState.FAILED ? "incident" : switch (task.spec().taskType()) {
            case "research", "analysis" -> "research";
            case "verification", "review" -> "audit";
            case "synthesis" -> "summary";
            default -> "delivery";
        };
    }
}
