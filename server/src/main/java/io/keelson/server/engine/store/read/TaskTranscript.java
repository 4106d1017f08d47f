package io.keelson.server.engine.store.read;

/**
 * The turns, calls and other steps of attempts of a task, with the requests of their programs to models, after the turns that it copied
 * from another run: each once, and without its predecessors.
 */
final class TaskTranscript {

    /**
     * Parameters: the task, the first and the last attempt (each null for the current one), the task, the workspace, offset and limit.
     * An answer of a turn that calls tools, or that the server has refused, is an object of these members. Anything else is the
     * task's output.
     */
    static final String SQL = """
            select s.id as step_id, case when q.id is null then s.kind else 'request' end as kind,
                case when s.copied then 0 else count(*) filter (where s.kind = 'turn' and s.copied and q.id is null) over () end
                    + count(*) filter (where s.kind = 'turn' and q.id is null)
                        over (partition by s.copied, case when not s.copied then s.task_attempt end order by s.part, s.position, s.turn)
                    as turn,
                case when not s.copied then s.task_attempt end as task_attempt, s.copied, case when q.id is null then s.tool end as tool,
                case when q.id is null then s.state else case q.state when 'open' then 'running' when 'answered' then 'completed'
                    else 'failed' end end as state, s.attempt,
                case when q.id is null then w.model else q.model end as model, case when q.id is null then e.text else q.text end as text,
                case when q.id is null then e.calls else q.calls end as calls,
                case when q.id is null then e.again end as again,
                case when q.id is null then e.facts -> 'answered' else to_jsonb(q.answered) end as model_answered,
                case when q.id is null then e.facts -> 'finish' else to_jsonb(q.finish) end as finish,
                case when q.id is null then e.facts -> 'first_text_ms' else to_jsonb(q.first_ms) end as first_text_ms,
                case when q.id is null then e.facts -> 'total_ms' else to_jsonb(q.total_ms) end as total_ms,
                %s, %s, array_remove(array[%s, %s], null)::text[] as omitted,
                case when q.id is null then s.error_code when q.state = 'lost' then 'answer_lost' when q.state = 'refused' then 'provider_refused' end
                    as error_code,
                case when q.id is null then s.error_class end as error_class, case when q.id is null then s.error_message
                    when q.state = 'lost' then 'no answer has come: its worst case is charged' when q.state = 'refused' then 'the provider has not answered it'
                    end as error_message,
                case when q.id is not null then coalesce((q.usage ->> 'input')::bigint + coalesce((q.usage ->> 'cache_read')::bigint, 0)
                        + coalesce((q.usage ->> 'cache_write')::bigint, 0) + (q.usage ->> 'output')::bigint, 0)
                    when s.copied then 0 else s.tokens - coalesce((q.all_of_step ->> 'tokens')::bigint, 0) end as tokens,
                case when q.id is not null then q.usage when not s.copied and q.all_of_step is null then w.usage end as usage,
                trim_scale(case when q.id is not null then coalesce(q.cost, 0) when s.copied then 0
                    else s.cost - coalesce((q.all_of_step ->> 'cost')::numeric, 0) end) as cost,
                case when q.id is null then s.started_at else q.sent_at end as started_at,
                case when q.id is null then s.completed_at else q.ended_at end as completed_at,
                s.called_by, q.epoch as lease_epoch, q.differs
              from (%s) s
             cross join {requests}
              left join work_results w on w.step_id = s.id and w.epoch = s.result_epoch
             cross join lateral (select s.kind = 'turn' and jsonb_typeof(s.output) = 'object'
                   and (s.output -> 'tool_calls' is not null or s.output -> 'again' is not null) as asks offset 0) k
             cross join lateral (select case when k.asks then s.output ->> 'text' end as text,
                   case when k.asks then s.output -> 'tool_calls' end as calls,
                   case when k.asks then s.output -> 'again' end as again,
                   case when s.kind = 'turn' and jsonb_typeof(s.output) = 'object' then s.output -> 'model_call' end as facts,
                   case when q.id is not null then to_jsonb(q.input) when s.kind = 'turn' then null else coalesce(w.input, s.resolved_input, s.input) end as input,
                   case when k.asks is not true and q.id is null then s.output end as output offset 0) e
             where s.workspace_id = ?
             order by s.part, s.task_attempt, s.position, s.turn, s.lane, q.place
            offset ? limit ?""".formatted(ValueSql.listed("e.input", "input"), ValueSql.listed("e.output", "output"),
            ValueSql.leftOut("e.input", "input"), ValueSql.leftOut("e.output", "output"), CopiedTurns
                    .steps("s.task_attempt between coalesce(?, t.attempt_number) and coalesce(?, t.attempt_number)"))
            .replace("{requests}", ProgramRequests.ROWS);

    private TaskTranscript() {}
}
