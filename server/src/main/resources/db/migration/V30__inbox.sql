-- What waits for a person is what a timer of the kind 'human' stands for. Those, and no others, name their workspace: its
-- people ask for them often.
alter table timers add column if not exists workspace_id uuid;

update timers t set workspace_id = r.workspace_id
  from orchestration_runs r
 where r.id = t.run_id and t.kind = 'human' and t.workspace_id is null;

drop index concurrently if exists ix_timers_human;
create index concurrently ix_timers_human on timers (workspace_id, run_id) where kind = 'human';

-- Runs that were stopped for their budget wait for a person, too, and have no timer. The index mentions no column that
-- another one does not, so that it costs the updates of those only that it holds.
drop index concurrently if exists ix_orch_runs_paused;
create index concurrently ix_orch_runs_paused on orchestration_runs (workspace_id, id) where state_type = 'paused';

-- Who is to decide something, and until when. It counts for as long as just that waits: since then.
create table if not exists inbox_assignments (
    subject uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    since timestamptz not null,
    assignee varchar(100),
    due_at timestamptz,
    assigned_by varchar(255),
    assigned_at timestamptz not null,
    foreign key (workspace_id, assignee) references principals (workspace_id, name) on delete cascade
);

create index if not exists ix_inbox_assignments_run on inbox_assignments (run_id);

select keelson_fence('inbox_assignments', 'workspace_id = (select keelson_workspace())');
