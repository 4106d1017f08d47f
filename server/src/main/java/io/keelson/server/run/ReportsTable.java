package io.keelson.server.run;

import static io.keelson.server.run.Column.uuid;

import java.util.UUID;

/**
 * {@code agent_reports} as far as runs write them (PRD-101 §7.3): one for each task that ended with an output or failed, one
 * for each attempt of a run that ended; in the transaction in which it ended, and never again. A report is made of what that
 * transaction has stored, so that nothing gets in that was struck out there, and of bounded pieces of it. Texts of people
 * and tools stand in quotations, each of whose lines begins with {@code >}, and JSON in fences, so that they cannot pass for
 * the report's own. Reading them is {@code server.board}'s.
 */
final class ReportsTable {
    /** Tasks or steps that a report lists at most. */
    private static final int LISTED = 50;
    /** Bytes in which an output is stored beyond which a report only says where it is; characters it shows at most. */
    private static final int LARGE = 65_536;
    private static final int SHOWN = 20_000;

    static final SetStatement<UUID> OF_TASKS = new SetStatement<>("keelson_report_of_task", """
            insert into agent_reports (workspace_id, subject_id, run_id, run_attempt, orchestration_task_id, report_type,
                title, agent, state, tokens, cost, duration_ms, content, created_at)
            select t.workspace_id, t.id, t.run_id, t.attempt, t.id,
                case when t.state = 'failed' then 'incident' else case t.task_type
                    when 'research' then 'research' when 'analysis' then 'research'
                    when 'writing' then 'delivery' when 'coding' then 'delivery'
                    when 'verification' then 'audit' when 'review' then 'audit'
                    when 'synthesis' then 'summary' else 'delivery' end end,
                t.title, a.name, t.state, t.tokens_used, t.cost, t.duration_ms, concat(
                '# ', %1$s, E'\\n\\n',
                'Task `', replace(t.key, '`', ''''), '` of run `', t.run_id, '`: **', t.state, '**', E'\\n\\n',
                '## Goal', E'\\n\\n', %2$s, E'\\n\\n',
                case when t.description is not null then concat(%3$s, E'\\n\\n') end,
                '## What was done', E'\\n\\n', done.list, E'\\n\\n',
                case when t.error_message is not null then concat('## Failure', E'\\n\\n',
                    '`', replace(t.error_code, '`', ''''), '`', E'\\n\\n', %4$s, E'\\n\\n') end,
                case when t.output_summary is not null then concat('## Output', E'\\n\\n', %5$s, E'\\n\\n') end,
                '## Figures', E'\\n\\n',
                '- Tokens: ', t.tokens_used, E'\\n- Cost: ', trim_scale(t.cost), ' USD', E'\\n- Duration: ',
                coalesce(t.duration_ms, 0), ' ms', E'\\n- Attempts: ', t.attempt_number, E'\\n\\n',
                '## Links', E'\\n\\n',
                '- Run: `/api/v1/runs/', t.run_id, E'`\\n- Task: `/api/v1/tasks/', t.id, '`', E'\\n'),
                {now}
              from {rows}
              join orchestration_tasks t on t.id = u.task_id
              join orchestration_runs r on r.id = t.run_id
              left join run_agents a on a.id = t.run_agent_id
             cross join lateral (
                select coalesce(string_agg(concat('- ', %6$s, ' (`', replace(coalesce(s.tool, s.kind), '`', ''''), '`): ',
                        s.state, case when s.error_code is not null then concat(', `', replace(s.error_code, '`', ''''), '`') end),
                        E'\\n' order by s.position, s.turn), 'Nothing.') as list
                  from (select * from orchestration_steps where task_id = t.id and task_attempt >= t.attempt_number
                         order by position, turn limit %7$d) s) done
             where t.state = 'failed' or t.output_summary <> 'null'
            on conflict (run_id, run_attempt, subject_id) where run_id is not null do nothing"""
            .formatted(line("t.title"), quoted("left(r.goal, 4000)"), quoted("left(t.description, 4000)"),
                    quoted("left(t.error_message, 4000)"), quoted("t.output_summary"), line("s.name"), LISTED),
            uuid("task_id", id -> id));

    static final SetStatement<UUID> OF_RUNS = new SetStatement<>("keelson_report_of_run", """
            insert into agent_reports (workspace_id, subject_id, run_id, run_attempt, report_type, title, agent, state,
                tokens, cost, duration_ms, content, created_at)
            select r.workspace_id, r.id, r.id, r.attempt_number,
                case when r.state = 'failed' then 'incident' else 'summary' end, r.title, r.agent_slug, r.state,
                h.total_tokens, h.total_cost, r.duration_ms, concat(
                '# ', %1$s, E'\\n\\n',
                'Run `', r.id, '`, attempt ', r.attempt_number, ': **', r.state, '**', E'\\n\\n',
                '## Goal', E'\\n\\n', %2$s, E'\\n\\n',
                '## What was done', E'\\n\\n', done.list,
                case when r.task_count > %6$d then concat(E'\\n- … and ', r.task_count - %6$d, ' more') end, E'\\n\\n',
                case when r.error_message is not null then concat('## Failure', E'\\n\\n',
                    '`', replace(r.error_code, '`', ''''), '`', E'\\n\\n', %3$s, E'\\n\\n') end,
                case when r.output is not null then concat('## Output', E'\\n\\n',
                    case when pg_column_size(r.output) > %7$d then 'Too large to be shown here.'
                        when jsonb_typeof(r.output) = 'string' then %4$s
                        else concat(E'```json\\n', left(jsonb_pretty(r.output), %8$d), E'\\n```') end,
                    E'\\n\\n') end,
                '## Figures', E'\\n\\n',
                '- Tasks: ', r.task_count, ', completed ', r.tasks_completed, ', failed ', r.tasks_failed, ', skipped ',
                r.tasks_skipped, E'\\n- Tokens: ', h.total_tokens, E'\\n- Cost: ', trim_scale(h.total_cost), ' USD',
                E'\\n- Duration: ', coalesce(r.duration_ms, 0), ' ms', E'\\n\\n',
                '## Links', E'\\n\\n',
                '- Run: `/api/v1/runs/', r.id, E'`\\n- Reports of its tasks: `/api/v1/reports?run_id=', r.id, '`', E'\\n'),
                {now}
              from {rows}
              join orchestration_runs r on r.id = u.run_id
              join run_heads h on h.run_id = r.id
             cross join lateral (
                select coalesce(string_agg(concat('- ', %5$s, ' (`', replace(t.key, '`', ''''), '`): ', t.state,
                        case when t.error_code is not null then concat(', `', replace(t.error_code, '`', ''''), '`') end),
                        E'\\n' order by t.sequence_number, t.item_index nulls first), 'Nothing.') as list
                  from (select * from orchestration_tasks t
                         where t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
                         order by t.key limit %6$d) t) done
            on conflict (run_id, run_attempt, subject_id) where run_id is not null do nothing"""
            .formatted(line("r.title"), quoted("left(r.goal, 4000)"), quoted("left(r.error_message, 4000)"),
                    quoted("left(r.output #>> '{}', " + SHOWN + ")"), line("t.title"), LISTED, LARGE, SHOWN),
            uuid("run_id", id -> id));

    private ReportsTable() {}

    /** SQL: a text as one line. */
    private static String line(String text) {
        return "regexp_replace(" + text + ", '\\s+', ' ', 'g')";
    }

    /** SQL: a text as a quotation. */
    private static String quoted(String text) {
        return "concat('> ', regexp_replace(" + text + ", E'\\r\\n?|\\n', E'\\n> ', 'g'))";
    }
}
