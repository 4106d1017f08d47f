-- A pack has equal members of its events once (docs/adr/0042). Of events with the same type, payload, agent, task and actor,
-- only the first is written out:
--
--   [{"e": "step_started", "s": "<step id>", "p": {…}}, {"e": "step_completed", "s": "", "p": {…}},
--    {"r": 0, "s": "<step id>"}, {"r": 1, "s": ""}]
--
-- r is the place of that first event, from 0. s is never taken from it. It is '' for the step of the event before, which has it
-- written out. Packs without r and '' are those of before.

-- Servers of the version before read packs by this function, too. Plain SQL, which the planner inlines. "offset 0" has the text
-- parsed once, lets the planner estimate that a condition on events selects some of a pack, and makes step_id a column: where row-level
-- security applies, an expression with a cast is not looked up in an index.
create or replace function keelson_unpack(pack_id bigint, pack_seq bigint, pack_agent uuid, pack_task uuid,
        pack_actor_type varchar, pack_actor varchar, body json)
    returns table (id bigint, seq bigint, agent_id uuid, task_id uuid, step_id uuid, event_type varchar, payload jsonb,
        actor_type varchar, actor_id varchar) language sql stable parallel safe as $$
    select pack_id + e.place - 1, pack_seq + e.place - 1,
        case when e.m ->> 'agent' is null then pack_agent when e.m ->> 'agent' <> '' then (e.m ->> 'agent')::uuid end,
        case when e.m ->> 'task' is null then pack_task when e.m ->> 'task' <> '' then (e.m ->> 'task')::uuid end,
        e.step_id, e.m ->> 'e', e.m -> 'p',
        case when e.m ->> 'actor_type' is null then pack_actor_type else e.m ->> 'actor_type' end,
        case when e.m ->> 'actor_type' is null then pack_actor else e.m ->> 'actor_id' end
      from (select l.place, coalesce(pack.events -> (l.event -> 'r')::int, l.event) as m,
                (case when l.event ->> 's' = '' then pack.events -> (l.place - 2)::int ->> 's' else l.event ->> 's' end)::uuid as step_id
              from (select body::jsonb as events offset 0) pack
             cross join lateral jsonb_array_elements(pack.events) with ordinality as l (event, place)
            offset 0) e
$$;
