package io.keelson.server.engine.store;

import io.keelson.server.base.db.Database;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The Markdown texts of reports about runs and tasks. They contain only bounded parts of database rows, so redacted
 * values cannot appear. A report is stored with its text; only a task's steps are added when it is read, while they
 * exist. Texts of people and tools are in block quotes, and JSON is in fences, so that they cannot pass for the
 * report's own text.
 */
public final class ReportTexts {
    /** Maximum tasks or steps in a report. */
    private static final int LISTED = 50;
    /** Stored size in bytes from which a report only links an output; and maximum characters that it shows. */
    private static final int LARGE = 65_536;
    private static final int SHOWN = 20_000;

    /** SQL: the text about a task {@code t} that has ended. */
    static final String TASK = """
            concat(
                '# ', %1$s, E'\\n\\n',
                'Task `', replace(t.key, '`', ''''), '` of run `', t.run_id, '`: **', t.state, '**', E'\\n\\n',
                case when t.description is not null then concat('## Goal', E'\\n\\n', %2$s, E'\\n\\n') end,
                case when t.error_message is not null then concat('## Failure', E'\\n\\n',
                    '`', replace(t.error_code, '`', ''''), '`', E'\\n\\n', %3$s, E'\\n\\n') end,
                case when t.output_summary is not null then concat('## Output', E'\\n\\n', %4$s, E'\\n\\n') end,
                case when t.output_ref is not null then concat('The whole output: `', t.output_ref, '`', E'\\n\\n') end,
                '## Figures', E'\\n\\n',
                '- Tokens: ', t.tokens_used, E'\\n- Cost: ', trim_scale(t.cost), ' credits', E'\\n- Duration: ',
                coalesce(t.duration_ms, 0), ' ms', E'\\n- Attempts: ', t.attempt_number, E'\\n\\n',
                '## Links', E'\\n\\n',
                '- Run: `/api/v1/runs/', t.run_id, E'`\\n- Task: `/api/v1/tasks/', t.id, '`', E'\\n')"""
            .formatted(line("t.title"), quoted("left(t.description, 4000)"), quoted("left(t.error_message, 4000)"),
                    quoted("t.output_summary"));

    /**
     * SQL: the text about an attempt {@code v} ({@code attempt, state, failures, error_code, error_message, tokens,
     * cost, duration_ms}) of a run {@code r}; {@link #DONE} is joined. The run's output belongs to its last attempt.
     */
    static final String RUN =
            """
            concat(
                '# ', %1$s, E'\\n\\n',
                'Run `', r.id, '`, attempt ', v.attempt, ': **',
                case when v.failures > 0 and v.state in ('completed', 'skipped') then 'completed with failures'
                    else v.state end, '**', E'\\n\\n',
                '## Goal', E'\\n\\n', %2$s, E'\\n\\n',
                '## What was done', E'\\n\\n', done.list,
                case when done.tasks > %5$d then concat(E'\\n- … and ', done.tasks - %5$d, ' more') end, E'\\n\\n',
                case when v.error_message is not null then concat('## Failure', E'\\n\\n',
                    '`', replace(v.error_code, '`', ''''), '`', E'\\n\\n', %3$s, E'\\n\\n') end,
                case when r.attempt_number <> v.attempt then null
                    when r.output is not null then concat('## Output', E'\\n\\n',
                        case when pg_column_size(r.output) > %6$d then 'Too large to be shown here.'
                            when jsonb_typeof(r.output) = 'string' then %4$s
                            else concat(E'```json\\n', left(jsonb_pretty(r.output), %7$d), E'\\n```') end, E'\\n\\n')
                    when v.state in ('completed', 'skipped') and r.result_summary is not null
                        then concat('## Output', E'\\n\\n', %8$s, E'\\n\\n') end,
                '## Figures', E'\\n\\n',
                '- Tasks: ', done.tasks, ', completed ', done.completed, ', failed ', done.failed, ', skipped ',
                done.skipped, E'\\n- Tokens: ', v.tokens, E'\\n- Cost: ', trim_scale(v.cost), ' credits',
                E'\\n- Duration: ', coalesce(v.duration_ms, 0), ' ms', E'\\n\\n',
                '## Links', E'\\n\\n',
                '- Run: `/api/v1/runs/', r.id, E'`\\n- Reports of its tasks: `/api/v1/reports?run_id=', r.id, '`', E'\\n')"""
                    .formatted(line("r.title"), quoted("left(r.goal, 4000)"), quoted("left(v.error_message, 4000)"),
                            quoted("left(r.output #>> '{}', " + SHOWN + ")"), LISTED, LARGE, SHOWN,
                            quoted("r.result_summary"));

    /** SQL: the results of the tasks of attempt {@code v} of run {@code r}, joined as {@code done}. */
    static final String DONE = """
             cross join lateral (
                select coalesce(string_agg(concat('- ', %1$s, ' (`', replace(t.key, '`', ''''), '`): ', t.state,
                        case when t.error_code is not null then concat(', `', replace(t.error_code, '`', ''''), '`',
                            case when t.error_message is not null then concat(E':\\n\\n  ',
                                regexp_replace(%3$s, E'\\n', E'\\n  ', 'g'), E'\\n') end) end),
                        E'\\n' order by t.sequence_number, t.item_index nulls first)
                        filter (where t.place <= %2$d), 'Nothing.') as list,
                    count(*) as tasks, count(*) filter (where t.state = 'completed') as completed,
                    count(*) filter (where t.state = 'failed') as failed,
                    count(*) filter (where t.state = 'skipped') as skipped
                  from (select t.title, t.key, t.state, t.error_code, t.error_message, t.sequence_number, t.item_index,
                               row_number() over (order by t.key) as place
                          from orchestration_tasks t
                         where t.run_id = r.id and t.attempt = v.attempt and not t.superseded) t) done"""
            .formatted(line("t.title"), LISTED, quoted("left(t.error_message, 500)"));

    /** Reports of an older server have no stored text. */
    private static final String OF_TASK = """
            select concat(case p.content when '' then %1$s else p.content end,
                E'\\n## What was done\\n\\n', done.list, E'\\n')
              from agent_reports p
              join orchestration_tasks t on t.id = p.subject_id
             cross join lateral (
                select coalesce(string_agg(concat('- ', %2$s, ' (`', replace(coalesce(s.tool, s.kind), '`', ''''), '`): ',
                        s.state, case when s.error_code is not null then concat(', `', replace(s.error_code, '`', ''''), '`') end),
                        E'\\n' order by s.position, s.turn), 'Nothing.') as list
                  from (select * from orchestration_steps where task_id = t.id and task_attempt >= t.attempt_number
                         order by position, turn limit %3$d) s) done
             where p.workspace_id = ? and p.id = ?""".formatted(TASK, line("s.name"), LISTED);

    private static final String OF_RUN = """
            select %1$s
              from agent_reports p
              join orchestration_runs r on r.id = p.subject_id
              left join run_attempts a on a.run_id = r.id and a.attempt_number = p.run_attempt
             cross join lateral (select p.run_attempt as attempt, p.state, a.failures, a.error_code, a.error_message,
                    p.tokens, p.cost, p.duration_ms) v
            %2$s
             where p.workspace_id = ? and p.id = ? and p.content = ''""".formatted(RUN, DONE);

    private static final String TEXT = OF_TASK + " union all " + OF_RUN;

    private static final String FAILURES = """
            select p.id, a.failures
              from agent_reports p
              join run_attempts a on a.run_id = p.subject_id and a.attempt_number = p.run_attempt
             where p.workspace_id = ? and p.id = any(?)""";

    private final Database database;

    public ReportTexts(Database database) {
        this.database = database;
    }

    /**
     * A task's report with the task's steps, or one without a stored text; empty for any other, whose stored text is
     * complete.
     */
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

    /** The number of failed parts at the end of the run's attempt, by the ids of reports about runs. */
    public Map<UUID, Integer> failures(UUID workspace, List<UUID> reports) {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(FAILURES)) {
                read.setObject(1, workspace);
                read.setArray(2, c.createArrayOf("uuid", reports.toArray()));
                try (ResultSet row = read.executeQuery()) {
                    Map<UUID, Integer> failures = new HashMap<>();
                    while (row.next()) {
                        failures.put(row.getObject(1, UUID.class), row.getInt(2));
                    }
                    return failures;
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
