package io.keelson.server.engine.store.read;

/** {@code gateway_requests} as entries of a transcript: a row for the step {@code s} and for each request of its program. */
final class ProgramRequests {

    /**
     * A lateral table {@code q}: the step itself, whose {@code id} is null, then its requests. Answers that are not valid jsonb are left
     * out, and texts are cut to the length of values in lists.
     */
    static final String ROWS = """
            lateral (
                select null::uuid as id, 0::bigint as place, null::text as state, null::text as model, null::text as answered, null::text as finish,
                    null::bigint as first_ms, null::bigint as total_ms, null::text as text, null::jsonb as calls, null::text as input,
                    null::jsonb as usage, null::numeric as cost, null::int as epoch, null::jsonb as differs,
                    null::timestamptz as sent_at, null::timestamptz as ended_at,
                    (select jsonb_build_object('cost', sum(g.cost), 'tokens', sum(
                            (g.usage ->> 'input')::bigint + coalesce((g.usage ->> 'cache_read')::bigint, 0)
                            + coalesce((g.usage ->> 'cache_write')::bigint, 0) + (g.usage ->> 'output')::bigint))
                       from gateway_requests g where g.step_id = s.id having count(*) > 0) as all_of_step
                union all
                select g.id, row_number() over (order by g.sent_at, g.id), g.state, g.model, d.document ->> 'model',
                    coalesce(d.document #>> '{choices,0,finish_reason}', d.document ->> 'stop_reason', d.document ->> 'status'),
                    (a.record ->> 'first_ms')::bigint, (a.record ->> 'total_ms')::bigint,
                    left(coalesce(d.document #>> '{choices,0,message,content}', (
                        select string_agg(part ->> 'text', '') from jsonb_path_query(d.document,
                            '$.output[*].content[*] ? (@.type == "output_text")') part), (
                        select string_agg(part ->> 'text', '') from jsonb_path_query(d.document,
                            '$.content[*] ? (@.type == "text")') part)), 16384),
                    (select jsonb_agg(jsonb_build_object('name', coalesce(call.value ->> 'name', call.value #>> '{function,name}'),
                            'input', coalesce(call.value -> 'input', call.value -> 'arguments', call.value #> '{function,arguments}')))
                       from (select jsonb_path_query(d.document, '$.choices[0].message.tool_calls[*]') as value
                             union all select jsonb_path_query(d.document, '$.output[*] ? (@.type == "function_call")')
                             union all select jsonb_path_query(d.document, '$.content[*] ? (@.type == "tool_use")')) call),
                    g.facts #>> '{messages,-1,text}', g.usage, g.cost, g.lease_epoch, g.facts -> 'differs', g.sent_at, g.ended_at, null
                  from gateway_requests g
                 cross join lateral (select case when strpos(g.answer::text, '\\u0000') = 0 then g.answer::text::jsonb end as record
                    offset 0) a
                 cross join lateral (select a.record -> 'document' as document offset 0) d
                 where g.step_id = s.id and not s.copied) q""";

    private ProgramRequests() {}
}
