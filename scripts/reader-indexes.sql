-- Optional: the three indexes of PRD-101 that only readers by SQL use, and a view that uses two of them. Keelson's own statements
-- do not need them, and each makes writing slower (docs/operate/sql-readers.md). Execute it as Keelson's database user, while servers
-- run or not; it may be executed again:
--   psql --set ON_ERROR_STOP=1 --file scripts/reader-indexes.sql DATABASE-URL
-- An index that an interrupted execution left invalid is built again. To undo it: drop the view, the indexes, the functions.

set lock_timeout = 0;

set statement_timeout = 0;

-- The types, and the tasks, of the events of a pack.
create or replace function keelson_pack_types(body json) returns text[] language sql immutable strict parallel safe as $$
    select array_agg(distinct e ->> 'e') from json_array_elements(body) e
$$;

create or replace function keelson_pack_tasks(pack_task uuid, body json) returns uuid[] language sql immutable parallel safe as $$
    select array_agg(distinct t.id)
      from (select pack_task as id union all
            select nullif(e ->> 'task', '')::uuid from json_array_elements(body) e where e ->> 'task' is not null) t
     where t.id is not null
$$;

select format('drop index concurrently if exists %I', c.relname)
  from pg_index i join pg_class c on c.oid = i.indexrelid
 where not i.indisvalid and c.relnamespace = current_schema()::regnamespace
   and c.relname in ('ix_orch_events_type', 'ix_orch_events_task', 'ix_orch_events_archive_type',
    'ix_orch_events_archive_task', 'ix_orch_tasks_ws_state')
\gexec

create index concurrently if not exists ix_orch_events_type on run_event_packs using gin (keelson_pack_types(body));

create index concurrently if not exists ix_orch_events_task on run_event_packs using gin (keelson_pack_tasks(task_id, body));

create index concurrently if not exists ix_orch_events_archive_type
    on run_event_packs_archive using gin (keelson_pack_types(body));

create index concurrently if not exists ix_orch_events_archive_task
    on run_event_packs_archive using gin (keelson_pack_tasks(task_id, body));

create index concurrently if not exists ix_orch_tasks_ws_state on orchestration_tasks (workspace_id, state);

create or replace view orchestration_event_search as
select e.id, p.run_id, e.task_id, e.event_type::varchar(50), e.payload, e.actor_type::varchar(20),
    e.actor_id::varchar(255), p.created_at, e.seq, p.attempt, e.step_id, e.agent_id, keelson_pack_types(p.body) as pack_types,
    keelson_pack_tasks(p.task_id, p.body) as pack_tasks
  from (select run_id, first_seq, id, attempt, agent_id, task_id, actor_type, actor_id, created_at, body from run_event_packs
        union all
        select run_id, first_seq, id, attempt, agent_id, task_id, actor_type, actor_id, created_at, body
          from run_event_packs_archive) p
 cross join lateral keelson_unpack(p.id, p.first_seq, p.agent_id, p.task_id, p.actor_type, p.actor_id, p.body) e;

comment on view orchestration_event_search is 'Events with the types and tasks of their packs, which indexes find.';

-- Servers under a superuser serve requests in this role, which sees rows of one workspace.
do $$ begin
    if to_regrole('keelson_request') is not null then
        revoke all on orchestration_event_search from keelson_request;
    end if;
end $$;
