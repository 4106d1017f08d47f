-- What steps propose to people (run-lifecycle §3). A run does not wait for the answers. One that has expired is as good as
-- decided, and stays pending here: nothing follows from it.
create table if not exists proposals (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    attempt integer not null check (attempt >= 1),
    task_id uuid not null,
    step_id uuid not null,
    title varchar(200) not null,
    body text,
    data jsonb,
    state varchar(20) not null default 'pending' check (state in ('pending', 'accepted', 'rejected', 'withdrawn')),
    created_at timestamptz not null,
    expires_at timestamptz,
    decided_at timestamptz,
    decided_by varchar(255),
    comment text,
    constraint ck_proposals_decided check ((state = 'pending') = (decided_at is null))
);

create index if not exists ix_proposals_run on proposals (run_id, id);
create index if not exists ix_proposals_workspace on proposals (workspace_id, created_at desc, id desc);
create index if not exists ix_proposals_pending on proposals (workspace_id, created_at, id) where state = 'pending';

drop type if exists keelson_proposal_new;
create type keelson_proposal_new as (id uuid, workspace_id uuid, run_id uuid, attempt int4, task_id uuid, step_id uuid,
    title text, body text, data jsonb, created_at timestamptz, expires_at timestamptz);
drop type if exists keelson_proposal_end;
create type keelson_proposal_end as (id uuid, state text, decided_at timestamptz, decided_by text, comment text);

select keelson_fence('proposals', 'workspace_id = (select keelson_workspace())');
