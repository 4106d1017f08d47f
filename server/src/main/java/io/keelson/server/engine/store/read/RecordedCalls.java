package io.keelson.server.engine.store.read;

import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TurnAnswer.Recorded;
import io.keelson.server.engine.store.sql.BinaryParameter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Records of the forked task's calls in the source of a fork. The fork's origin names the tasks that hold them, the
 * newest last.
 *
 * <p>A call's content is its tool and the digest of its input. The k-th call of a content gets the answer of the k-th
 * ended call in the source's last attempt, then in earlier attempts; further calls get the last answer.
 */
public final class RecordedCalls {

    /** The origin's member below {@link CopiedTurns#ORIGIN}: ids of tasks. */
    static final String TASKS = "recorded";

    /** The tasks that hold the records of a task's calls; null for a task whose calls are made. */
    private static final String SOURCES = """
            select case r.origin -> 'copied' ->> 'task' when t.key then r.origin -> 'copied' -> 'recorded' end as recorded
              from orchestration_tasks t join orchestration_runs r on r.id = t.run_id
             where t.id = ?""";

    /**
     * Numbers the calls of each content: after the task's earlier calls in this attempt, in the order of the request.
     */
    private static final String ANSWERS = """
            with had as (
                select substring(s.call_effect from '^(.*)/[0-9]+$') as content, count(*) as calls
                  from (%s) s
                 where s.kind = 'call' group by 1),
            asked as (
                select a.n, a.content, coalesce(h.calls, 0) + row_number() over (partition by a.content order by a.n) as k
                  from unnest(?::text[]) with ordinality a (content, n) left join had h using (content)),
            recorded as (
                select s.id, c.content,
                    row_number() over (partition by c.content
                        order by s.task_attempt = t.attempt_number desc, f.part, s.task_attempt, s.position, s.turn) as k,
                    count(*) over (partition by c.content) as calls
                  from jsonb_array_elements_text(?::jsonb) with ordinality f (task, part)
                  join orchestration_tasks t on t.id = f.task::uuid
                  join orchestration_steps s on s.task_id = t.id and s.workspace_id = t.workspace_id
                 cross join lateral (select substring(s.call_effect from '^(.*)/[0-9]+$') as content offset 0) c
                 where t.workspace_id = ? and s.kind = 'call' and s.state in ('completed', 'failed', 'skipped')
                   and c.content = any (?::text[]))
            select s.state, s.output, s.error_code, s.error_class, s.error_message
              from asked a
              left join recorded r on r.content = a.content and r.k = least(a.k, r.calls)
              left join orchestration_steps s on s.id = r.id
             order by a.n""".formatted(CopiedTurns.STEPS);

    private RecordedCalls() {}

    /**
     * The answers of calls of a task, in their order; empty for a task whose calls are made.
     *
     * @param contents each a tool and the digest of an input
     */
    public static Optional<List<Recorded>> of(Connection c, UUID workspace, UUID task, List<String> contents)
            throws SQLException {
        String sources = sources(c, task);
        if (sources == null) {
            return Optional.empty();
        }
        try (PreparedStatement statement = c.prepareStatement(ANSWERS)) {
            statement.setObject(1, task);
            statement.setObject(2, task);
            BinaryParameter.bindTexts(statement, 3, contents);
            statement.setString(4, sources);
            statement.setObject(5, workspace);
            BinaryParameter.bindTexts(statement, 6, contents);
            List<Recorded> answers = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    answers.add(answer(row));
                }
            }
            return Optional.of(answers);
        }
    }

    private static @Nullable String sources(Connection c, UUID task) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(SOURCES)) {
            statement.setObject(1, task);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getString("recorded") : null;
            }
        }
    }

    private static Recorded answer(ResultSet row) throws SQLException {
        String state = row.getString("state");
        if (state == null) {
            return new Recorded.Nothing();
        }
        if (state.equals("completed")) {
            String output = row.getString("output");
            return new Recorded.Output(output == null ? "null" : output);
        }
        String errorClass = row.getString("error_class");
        return new Recorded.Failure(new StepError(String.valueOf(row.getString("error_code")),
                errorClass == null ? ErrorClass.PERMANENT : ErrorClass.valueOf(errorClass.toUpperCase(Locale.ROOT)),
                String.valueOf(row.getString("error_message"))));
    }
}
