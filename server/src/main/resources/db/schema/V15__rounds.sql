-- Rounds of tasks with `repeat`: of an earlier round one row is left.
create table if not exists task_rounds (
    loop_id uuid not null,
    round integer not null,
    run_id uuid not null,
    workspace_id uuid not null,
    task_id uuid not null,
    state varchar(30) not null,
    attempts integer not null,
    effect_generation integer not null,
    tokens bigint not null,
    cost numeric(26,12) not null,
    output jsonb,
    error_code varchar(100),
    error_message text,
    started_at timestamptz,
    completed_at timestamptz not null,
    primary key (loop_id, round),
    constraint ck_task_rounds_valid check (round >= 1 and attempts >= 1 and tokens >= 0 and cost >= 0)
);

comment on table task_rounds is 'Earlier rounds of tasks with repeat, whose tasks and steps are gone.';
comment on column task_rounds.loop_id is 'the task with repeat';
comment on column task_rounds.round is 'number of the round, from 1';
comment on column task_rounds.task_id is 'id that the task of the round had';
comment on column task_rounds.attempts is 'attempts of the round';
comment on column task_rounds.cost is 'credits';

select keelson_enable_rls('task_rounds', 'workspace_id = (select keelson_workspace())', true);

-- The rounds of a task go with it.
create or replace function keelson_drop_rounds() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
    delete from task_rounds where loop_id = any (array(select gone.id from gone where gone.step_specs is not null));
    return null;
end $$;

create or replace trigger orchestration_tasks_drop_rounds after delete on orchestration_tasks
    referencing old table as gone for each statement execute function keelson_drop_rounds();

-- A round's step is gone before its artifacts.
alter table artifacts add column if not exists task_id uuid;
comment on column artifacts.task_id is 'the task of its step; null in rows of servers without rounds';

drop type if exists keelson_round_end;
create type keelson_round_end as (task_id uuid);
