-- Rules of workspaces about approvals (docs/guide/approvals.md), and receivers of messages that people have added for themselves
-- (docs/guide/notifications.md).
create table if not exists approval_rules (
    workspace_id uuid primary key references workspaces (id) on delete cascade,
    approvals integer not null default 1 check (approvals between 1 and 5),
    four_eyes boolean not null default false,
    updated_by varchar(255) not null,
    updated_at timestamptz not null default clock_timestamp()
);

comment on table approval_rules is 'Rules of workspaces about the approval of questions of runs; the strictest of mission, workspace and server counts.';
comment on column approval_rules.approvals is 'people who have to approve each question of new runs';
comment on column approval_rules.four_eyes is 'whether the submitter of a run cannot approve for it';

alter table webhook_endpoints add column if not exists owner varchar(100);

comment on column webhook_endpoints.owner is 'principal that added it for itself; null for a receiver of the workspace';

select keelson_enable_rls('approval_rules', 'workspace_id = (select keelson_workspace())', true);
