package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.TaskRow;
import io.keelson.server.engine.store.sql.RowSetStatement;

/** {@code task_rounds}: the earlier rounds of tasks and groups with {@code repeat}. */
final class RoundsTable {
    /** After the changes of the rounds were written. */
    static final RowSetStatement<TaskRow> FOLD = RowSetStatement.ofAll("keelson_round_end", """
            insert into task_rounds (loop_id, round, run_id, workspace_id, task_id, state, attempts, effect_generation,
                tokens, cost, output, error_code, error_message, started_at, completed_at, member)
            select t.group_id, t.item_index, t.run_id, t.workspace_id, t.id, t.state, t.attempt_number, t.effect_generation,
                t.tokens_used, t.cost, case when t.state = 'completed' then coalesce(t.output, (
                    select s.output from task_steps s
                     where s.task_id = t.id and s.task_attempt = t.attempt_number and s.state = 'completed'
                       and s.kind <> 'verify' and s.called_by is null
                     order by s.position desc, s.turn desc limit 1)) end,
                t.error_code, t.error_message, t.started_at, t.completed_at, split_part(t.key, '].', 2)
              from {rows} join orchestration_tasks t on t.id = u.task_id""", uuid("task_id", TaskRow::id));

    /** A trigger removes their steps. */
    static final RowSetStatement<TaskRow> REMOVE = RowSetStatement.ofAll("keelson_round_end", """
            delete from orchestration_tasks t using {rows} where t.id = u.task_id""", uuid("task_id", TaskRow::id));

    private RoundsTable() {}
}
