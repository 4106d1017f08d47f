package io.keelson.server.engine.store.read;

/**
 * The turns, calls and other steps of attempts of a task, after the turns that it copied from another run: each once,
 * and without its predecessors.
 */
final class TaskTranscript {

    /**
     * Parameters: the task, the first and the last attempt (each null for the current one), the task, the workspace, offset and limit.
     * An answer of a turn that calls tools, or that the server has refused, is an object of these members. Anything else is the
     * task's output.
     */
    static final String SQL = """
            select s.id as step_id, s.kind, case when s.copied then 0 else count(*) filter (where s.kind = 'turn' and s.copied) over () end
                    + count(*) filter (where s.kind = 'turn')
                        over (partition by s.copied, case when not s.copied then s.task_attempt end order by s.part, s.position, s.turn)
                    as turn,
                case when not s.copied then s.task_attempt end as task_attempt, s.copied, s.tool, s.state, s.attempt, w.model, e.text, e.calls, e.again, e.facts -> 'answered' as model_answered,
                e.facts -> 'finish' as finish, e.facts -> 'first_text_ms' as first_text_ms, e.facts -> 'total_ms' as total_ms,
                %s, %s, array_remove(array[%s, %s], null)::text[] as omitted,
                s.error_code, s.error_class, s.error_message,
                case when s.copied then 0 else s.tokens end as tokens, case when not s.copied then w.usage end as usage,
                case when s.copied then 0 else trim_scale(s.cost) end as cost,
                s.started_at, s.completed_at
              from (%s) s
              left join work_results w on w.step_id = s.id and w.epoch = s.result_epoch
             cross join lateral (select s.kind = 'turn' and jsonb_typeof(s.output) = 'object'
                   and (s.output -> 'tool_calls' is not null or s.output -> 'again' is not null) as asks offset 0) k
             cross join lateral (select case when k.asks then s.output ->> 'text' end as text,
                   case when k.asks then s.output -> 'tool_calls' end as calls,
                   case when k.asks then s.output -> 'again' end as again,
                   case when s.kind = 'turn' and jsonb_typeof(s.output) = 'object' then s.output -> 'model_call' end as facts,
                   case when s.kind = 'turn' then null else coalesce(w.input, s.resolved_input, s.input) end as input,
                   case when k.asks is not true then s.output end as output offset 0) e
             where s.workspace_id = ?
             order by s.part, s.task_attempt, s.position, s.turn
            offset ? limit ?""".formatted(ValueSql.listed("e.input", "input"), ValueSql.listed("e.output", "output"),
            ValueSql.leftOut("e.input", "input"), ValueSql.leftOut("e.output", "output"), CopiedTurns
                    .steps("s.task_attempt between coalesce(?, t.attempt_number) and coalesce(?, t.attempt_number)"));

    private TaskTranscript() {}
}
