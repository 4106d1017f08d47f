package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.server.engine.store.sql.RowSetStatement;

/**
 * {@code agent_reports}, as far as runs write them: one for each task that ended with an output, failed,
 * or whose failure was ignored, and one for each ended attempt of a run. Each is written once, in the transaction of
 * the end. Its text is made from rows of that transaction ({@link ReportTexts}) and outlives them. {@code server.outlet.board}
 * lists reports.
 */
final class ReportsTable {

    /** A task with neither an output nor a failure has no report. */
    static final RowSetStatement<TaskRow> INSERT_TASK = new RowSetStatement<>("keelson_report_task", """
            insert into agent_reports (id, workspace_id, subject_id, run_id, run_attempt, orchestration_task_id, report_type,
                title, agent, state, tokens, cost, duration_ms, content, created_at)
            select gen_random_uuid(), t.workspace_id, t.id, t.run_id, t.attempt, t.id, u.report_type, t.title, u.agent, t.state,
                t.tokens_used, t.cost, t.duration_ms, %s, {now}
              from {rows}
              join orchestration_tasks t on t.id = u.task_id
             where t.state = 'failed' or t.failure_ignored or t.output_summary <> 'null'
            on conflict (run_id, run_attempt, subject_id) where run_id is not null do nothing"""
            .formatted(ReportTexts.TASK),
            uuid("task_id", TaskRow::id), word("report_type", ReportsTable::type),
            text("agent", 255, task -> task.agent().name()));

    /** A run's report is always a summary. */
    static final RowSetStatement<RunRow> INSERT_RUN = new RowSetStatement<>("keelson_report_run", """
            insert into agent_reports (id, workspace_id, subject_id, run_id, run_attempt, report_type, title, agent, state,
                tokens, cost, duration_ms, content, created_at)
            select gen_random_uuid(), r.workspace_id, r.id, r.id, r.attempt_number, 'summary', r.title, r.agent_slug, r.state,
                v.tokens, v.cost, r.duration_ms, %s, {now}
              from {rows}
              join orchestration_runs r on r.id = u.run_id
             cross join lateral (select r.attempt_number as attempt, r.state, u.failures, r.error_code, r.error_message,
                    u.tokens, u.cost, r.duration_ms) v
            %s
            on conflict (run_id, run_attempt, subject_id) where run_id is not null do nothing"""
            .formatted(ReportTexts.RUN, ReportTexts.DONE),
            uuid("run_id", RunRow::id), integer("failures", RunRow::failures),
            bigint("tokens", run -> run.tokens().total()),
            money("cost", RunRow::cost));

    private ReportsTable() {}

    private static String type(TaskRow task) {
        return task.state() == TaskState.FAILED || task.failureIgnored() ? "incident"
                : switch (task.spec().taskType()) {
                    case RESEARCH, ANALYSIS -> "research";
                    case VERIFICATION, REVIEW -> "audit";
                    case SYNTHESIS -> "summary";
                    case WRITING, CODING, OTHER, PLANNING, HOOK_BEFORE, HOOK_AFTER -> "delivery";
                };
    }
}
