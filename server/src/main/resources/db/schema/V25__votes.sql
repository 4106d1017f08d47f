-- Approvals of questions that require several people, while these questions wait (docs/guide/inbox.md).
create table if not exists approval_votes (
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    subject uuid not null,
    voter varchar(255) not null,
    workspace_id uuid not null,
    question varchar(200) not null,
    digest varchar(64) not null,
    reason text,
    voted_at timestamptz not null,
    primary key (run_id, subject, voter)
);

comment on table approval_votes is 'Approvals of questions that wait for other people.';
comment on column approval_votes.subject is 'the run, task, step, ticket or proposal that the question is about';
comment on column approval_votes.question is 'tells the question from others about the same subject, and from its earlier contents';
comment on column approval_votes.digest is 'SHA-256 of the approved content';

select keelson_enable_rls('approval_votes', 'workspace_id = (select keelson_workspace())', true);

drop type if exists keelson_vote, keelson_vote_key;
create type keelson_vote as (run_id uuid, subject uuid, voter text, workspace_id uuid, question text, digest text,
    reason text, voted_at timestamptz);
create type keelson_vote_key as (run_id uuid, subject uuid, voter text);
