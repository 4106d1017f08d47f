package io.keelson.server.run;

import io.keelson.server.db.Database;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Optional;
import java.util.UUID;

/**
 * The texts of reports about runs and tasks, in Markdown: made of what the database holds, so that nothing gets in that was
 * struck out there, and of bounded pieces of it. Texts of people and tools stand in quotations, each of whose lines begins
 * with {@code >}, and JSON in fences, so that they cannot pass for the report's own.
 */
public final class ReportTexts {
    /** Tasks or steps that a report lists at most. */
    private static final int LISTED = 50;
    /** Bytes in which an output is stored beyond which a report only says where it is; characters it shows at most. */
    private static final int LARGE = 65_536;
    private static final int SHOWN = 20_000;

    private static final String OF_TASK = """
            select concat(
                '# ', %1$s, E'\\n\\n',
                'Task `', replace(t.key, '`', ''''), '` of run `', p.run_id, '`: **', p.state, '**', E'\\n\\n',
                '## Goal', E'\\n\\n', %2$s, E'\\n\\n',
                case when t.description is not null then concat(%3$s, E'\\n\\n') end,
                '## What was done', E'\\n\\n', done.list, E'\\n\\n',
                case when t.error_message is not null then concat('## Failure', E'\\n\\n',
                    '`', replace(t.error_code, '`', ''''), '`', E'\\n\\n', %4$s, E'\\n\\n') end,
                case when t.output_summary is not null then concat('## Output', E'\\n\\n', %5$s, E'\\n\\n') end,
                '## Figures', E'\\n\\n',
                '- Tokens: ', p.tokens, E'\\n- Cost: ', trim_scale(p.cost), ' USD', E'\\n- Duration: ',
                coalesce(p.duration_ms, 0), ' ms', E'\\n- Attempts: ', t.attempt_number, E'\\n\\n',
                '## Links', E'\\n\\n',
                '- Run: `/api/v1/runs/', p.run_id, E'`\\n- Task: `/api/v1/tasks/', t.id, '`', E'\\n')
              from agent_reports p
              join orchestration_tasks t on t.id = p.subject_id
              join orchestration_runs r on r.id = p.run_id
             cross join lateral (
                select coalesce(string_agg(concat('- ', %6$s, ' (`', replace(coalesce(s.tool, s.kind), '`', ''''), '`): ',
                        s.state, case when s.error_code is not null then concat(', `', replace(s.error_code, '`', ''''), '`') end),
                        E'\\n' order by s.position, s.turn), 'Nothing.') as list
                  from (select * from orchestration_steps where task_id = t.id and task_attempt >= t.attempt_number
                         order by position, turn limit %7$d) s) done
             where p.workspace_id = ? and p.id = ?"""
            .formatted(line("p.title"), quoted("left(r.goal, 4000)"), quoted("left(t.description, 4000)"),
                    quoted("left(t.error_message, 4000)"), quoted("t.output_summary"), line("s.name"), LISTED);

    /** A later attempt has the run's output for itself. */
    private static final String OF_RUN = """
            select concat(
                '# ', %1$s, E'\\n\\n',
                'Run `', r.id, '`, attempt ', p.run_attempt, ': **',
                case when a.failures > 0 and p.state in ('completed', 'skipped') then 'completed with failures'
                    else p.state end, '**', E'\\n\\n',
                '## Goal', E'\\n\\n', %2$s, E'\\n\\n',
                '## What was done', E'\\n\\n', done.list,
                case when done.tasks > %6$d then concat(E'\\n- … and ', done.tasks - %6$d, ' more') end, E'\\n\\n',
                case when a.error_message is not null then concat('## Failure', E'\\n\\n',
                    '`', replace(a.error_code, '`', ''''), '`', E'\\n\\n', %3$s, E'\\n\\n') end,
                case when r.output is not null and r.attempt_number = p.run_attempt then concat('## Output', E'\\n\\n',
                    case when pg_column_size(r.output) > %7$d then 'Too large to be shown here.'
                        when jsonb_typeof(r.output) = 'string' then %4$s
                        else concat(E'```json\\n', left(jsonb_pretty(r.output), %8$d), E'\\n```') end,
                    E'\\n\\n') end,
                '## Figures', E'\\n\\n',
                '- Tasks: ', done.tasks, ', completed ', done.completed, ', failed ', done.failed, ', skipped ',
                done.skipped, E'\\n- Tokens: ', p.tokens, E'\\n- Cost: ', trim_scale(p.cost), ' USD',
                E'\\n- Duration: ', coalesce(p.duration_ms, 0), ' ms', E'\\n\\n',
                '## Links', E'\\n\\n',
                '- Run: `/api/v1/runs/', r.id, E'`\\n- Reports of its tasks: `/api/v1/reports?run_id=', r.id, '`', E'\\n')
              from agent_reports p
              join orchestration_runs r on r.id = p.subject_id
              left join run_attempts a on a.run_id = r.id and a.attempt_number = p.run_attempt
             cross join lateral (
                select coalesce(string_agg(concat('- ', %5$s, ' (`', replace(t.key, '`', ''''), '`): ', t.state,
                        case when t.error_code is not null then concat(', `', replace(t.error_code, '`', ''''), '`',
                            case when t.error_message is not null then concat(E':\\n\\n  ',
                                regexp_replace(%9$s, E'\\n', E'\\n  ', 'g'), E'\\n') end) end),
                        E'\\n' order by t.sequence_number, t.item_index nulls first)
                        filter (where t.place <= %6$d), 'Nothing.') as list,
                    count(*) as tasks, count(*) filter (where t.state = 'completed') as completed,
                    count(*) filter (where t.state = 'failed') as failed,
                    count(*) filter (where t.state = 'skipped') as skipped
                  from (select t.*, row_number() over (order by t.key) as place from orchestration_tasks t
                         where t.run_id = r.id and t.attempt = p.run_attempt and not t.superseded) t) done
             where p.workspace_id = ? and p.id = ?"""
            .formatted(line("p.title"), quoted("left(r.goal, 4000)"), quoted("left(a.error_message, 4000)"),
                    quoted("left(r.output #>> '{}', " + SHOWN + ")"), line("t.title"), LISTED, LARGE, SHOWN,
                    quoted("left(t.error_message, 500)"));

    private static final String TEXT = OF_TASK + " union all " + OF_RUN;

    private final Database database;

    public ReportTexts(Database database) {
        this.database = database;
    }

    /** A report's text; empty where what it is about is no longer there, or is no run and no task. */
    public Optional<String> find(UUID workspace, UUID report) {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(TEXT)) {
                read.setObject(1, workspace);
                read.setObject(2, report);
                read.setObject(3, workspace);
                read.setObject(4, report);
                try (ResultSet row = read.executeQuery()) {
                    return row.next() ? Optional.of(row.getString(1)) : Optional.empty();
                }
            }
        });
    }

    /** SQL: a text as one line. */
    private static String line(String text) {
        return "regexp_replace(" + text + ", '\\s+', ' ', 'g')";
    }

    /** SQL: a text as a quotation. */
    private static String quoted(String text) {
        return "concat('> ', regexp_replace(" + text + ", E'\\r\\n?|\\n', E'\\n> ', 'g'))";
    }
}
