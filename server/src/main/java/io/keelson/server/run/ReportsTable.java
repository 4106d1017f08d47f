package io.keelson.server.run;

import static io.keelson.server.run.Column.uuid;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * {@code agent_reports} as far as runs write them (PRD-101 §7.3): one for each task that ended with an output or failed, one
 * for each attempt of a run that ended; in the transaction in which it ended, and never again. It has the figures; its text
 * is made when somebody reads it ({@link ReportTexts}), for most nobody ever does. Lists of them are {@code server.board}'s.
 */
final class ReportsTable {

    /** What has ended: a run or a task, the other is null. */
    record Ended(@Nullable UUID runId, @Nullable UUID taskId) {}

    static final SetStatement<Ended> INSERT = new SetStatement<>("keelson_report", """
            insert into agent_reports (workspace_id, subject_id, run_id, run_attempt, orchestration_task_id, report_type,
                title, agent, state, tokens, cost, duration_ms, created_at)
            select t.workspace_id, t.id, t.run_id, t.attempt, t.id,
                case when t.state = 'failed' then 'incident' else case t.task_type
                    when 'research' then 'research' when 'analysis' then 'research'
                    when 'writing' then 'delivery' when 'coding' then 'delivery'
                    when 'verification' then 'audit' when 'review' then 'audit'
                    when 'synthesis' then 'summary' else 'delivery' end end,
                t.title, a.name, t.state, t.tokens_used, t.cost, t.duration_ms, {now}
              from {rows}
              join orchestration_tasks t on t.id = u.task_id
              left join run_agents a on a.id = t.run_agent_id
             where left(t.key, 1) <> '.' and (t.state = 'failed' or t.output_summary <> 'null')
            union all
            select r.workspace_id, r.id, r.id, r.attempt_number, null,
                case when r.state = 'failed' then 'incident' else 'summary' end, r.title, r.agent_slug, r.state,
                h.total_tokens, h.total_cost, r.duration_ms, {now}
              from {rows}
              join orchestration_runs r on r.id = u.run_id
              join run_heads h on h.run_id = r.id
            on conflict (run_id, run_attempt, subject_id) where run_id is not null do nothing""",
            uuid("run_id", Ended::runId), uuid("task_id", Ended::taskId));

    private ReportsTable() {}
}
