-- Results of steps that other runs of the workspace may take over (docs/guide/reuse.md, docs/adr/0043).
create table if not exists result_cache (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    tool varchar(220) not null,
    key_sha256 char(64) not null,
    key_start varchar(200) not null,
    run_id uuid not null,
    step_id uuid not null,
    reserved_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (workspace_id, tool, key_sha256)
);

create index if not exists ix_result_cache_expires on result_cache (expires_at);

comment on table result_cache is 'Steps whose results other steps with the same key take over. The result itself is in the step.';
comment on column result_cache.tool is 'of the step; agent.turn and model.turn of a whole task of an agent';
comment on column result_cache.key_sha256 is 'of the key in canonical JSON, hexadecimal';
comment on column result_cache.key_start is 'the first characters of the key as JSON';
comment on column result_cache.run_id is 'the run whose step computes the result or has computed it';
comment on column result_cache.step_id is 'that step';
comment on column result_cache.reserved_at is 'when the step began to compute the result';
comment on column result_cache.expires_at is 'when no reader takes the result over any more; the row is deleted a day later';

select keelson_enable_rls('result_cache', 'workspace_id = (select keelson_workspace())', true);
