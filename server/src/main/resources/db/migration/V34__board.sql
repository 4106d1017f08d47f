-- The work board and the reports (PRD-101 §7.2, §7.3). Each line is a transaction of its own.

-- INTEGER, as the seed has it, would be used up within weeks of full load, and no run could be made any more. Nothing was
-- written to a task's column before, so it is made anew instead of being changed in every row.
alter table board_tasks alter column id type bigint, alter column parent_task_id type bigint;
alter sequence board_tasks_id_seq as bigint;
do $$ begin
    if 'integer' = (select data_type from information_schema.columns where table_schema = current_schema()
                       and table_name = 'orchestration_tasks' and column_name = 'board_task_id') then
        alter table orchestration_tasks drop column board_task_id, add column board_task_id bigint,
            add constraint orchestration_tasks_board_task_id_fkey foreign key (board_task_id)
                references board_tasks (id) on delete set null not valid;
    end if;
end $$;
alter table orchestration_tasks validate constraint orchestration_tasks_board_task_id_fkey;
create index concurrently if not exists ix_orch_tasks_board on orchestration_tasks (board_task_id)
    where board_task_id is not null;

alter table board_tasks
    add column if not exists priority varchar(20) not null default 'medium',
    add column if not exists review_mode varchar(20) not null default 'auto',
    add column if not exists assigned_agent_id integer references agents (id) on delete set null,
    add column if not exists assignee varchar(255),
    add column if not exists created_by_type varchar(30) not null default 'user',
    add column if not exists created_by_id varchar(255),
    add column if not exists tags jsonb not null default '[]',
    add column if not exists run_id uuid,
    add column if not exists result text,
    add column if not exists error_message text,
    add column if not exists started_at timestamptz,
    add column if not exists completed_at timestamptz;

comment on column board_tasks.assignee is 'who does it: the name of a run''s agent, or whatever people write';

-- What was there before is not looked at: it may be of another making.
alter table board_tasks
    drop constraint if exists ck_board_tasks_status,
    add constraint ck_board_tasks_status
        check (status in ('inbox', 'assigned', 'in_progress', 'review', 'done')) not valid;

-- What changes with a task's status; the rest of a page is free for it. One tree for columns and lists, one for a task's
-- children: a change of status costs an entry in each tree.
alter table board_tasks set (fillfactor = 80);
create index concurrently if not exists ix_board_tasks_column on board_tasks (workspace_id, status, source_type, id);
create index concurrently if not exists ix_board_tasks_parent on board_tasks (parent_task_id, status, id)
    where parent_task_id is not null;
create index concurrently if not exists ix_board_tasks_agent on board_tasks (assigned_agent_id)
    where assigned_agent_id is not null;

alter table agent_reports
    add column if not exists subject_id uuid,
    add column if not exists run_id uuid,
    add column if not exists run_attempt integer,
    add column if not exists agent varchar(255),
    add column if not exists state varchar(30),
    add column if not exists tokens bigint not null default 0,
    add column if not exists cost numeric(20, 6) not null default 0,
    add column if not exists duration_ms bigint,
    add column if not exists content text not null default '';

comment on column agent_reports.subject_id is 'the task or the run that it is about, also once that is gone';

-- One report per task and per attempt of a run; it also finds a run's.
create unique index concurrently if not exists uq_agent_reports_subject
    on agent_reports (run_id, run_attempt, subject_id) where run_id is not null;
create index concurrently if not exists ix_agent_reports_ws on agent_reports (workspace_id, created_at, id);

drop type if exists keelson_board_change;
create type keelson_board_change as (task_id uuid, mission text, status text, tag text, started_at timestamptz,
    completed_at timestamptz, result text, error_message text);
drop type if exists keelson_report;
create type keelson_report as (run_id uuid, task_id uuid);

-- Runs that are open get the rows that newer ones are made with.
insert into board_tasks (workspace_id, title, description, status, priority, review_mode, created_by_type,
    created_by_id, tags, run_id, source_type, source_id, started_at, created_at)
select workspace_id, left('Mission: ' || title, 500), left(goal, 4000),
    case state when 'running' then 'in_progress' when 'resuming' then 'in_progress' when 'retrying' then 'assigned'
        when 'created' then 'inbox' when 'pending' then 'inbox' when 'planning' then 'inbox' else 'review' end,
    'high', 'manual', 'orchestration', created_by, jsonb_build_array('mission', state), id, 'orchestration', id::text,
    started_at, created_at
  from orchestration_runs where state_type <> 'terminal'
on conflict (source_id) where source_type = 'orchestration' do nothing;

insert into board_tasks (workspace_id, title, description, status, review_mode, assignee, created_by_type,
    created_by_id, parent_task_id, tags, run_id, source_type, source_id, result, error_message, started_at,
    completed_at, created_at)
select t.workspace_id, t.title, left(t.description, 4000),
    case t.state when 'pending' then 'inbox' when 'queued' then 'inbox' when 'awaiting_retry' then 'assigned'
        when 'assigned' then 'assigned' when 'running' then 'in_progress' when 'continuing' then 'in_progress'
        when 'verifying' then 'review' when 'awaiting_human' then 'review' else 'done' end,
    case when t.success_criteria is null then 'auto' else 'manual' end, a.name, 'orchestration', 'system', b.id,
    jsonb_build_array('mission_task', t.task_type), t.run_id, 'orchestration_task', t.id::text, t.output_summary,
    t.error_message, t.started_at, t.completed_at, t.created_at
  from orchestration_runs r
  join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number
  left join run_agents a on a.id = t.run_agent_id
  join board_tasks b on b.source_type = 'orchestration' and b.source_id = r.id::text
 where r.state_type <> 'terminal'
on conflict (source_id) where source_type = 'orchestration_task' do nothing;

update orchestration_tasks t set board_task_id = b.id
  from board_tasks b
 where b.source_type = 'orchestration_task' and b.source_id = t.id::text and t.board_task_id is null;
