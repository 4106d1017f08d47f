-- Runs that start by themselves, what a run was made of, and the declarations of its inputs. Null for most: nothing is
-- decided by them but start_at, once, when the run is made.
alter table orchestration_runs
    add column if not exists start_at timestamptz,
    add column if not exists origin jsonb,
    add column if not exists input_declarations jsonb;

comment on column orchestration_runs.origin is 'recipe_id, recipe_version, schedule_id, scheduled_for; null for none of them';

drop type if exists keelson_run_new_v4;
create type keelson_run_new_v4 as (id uuid, workspace_id uuid, title text, description text, goal text, plan jsonb,
    config jsonb, policy jsonb, inputs jsonb, tags jsonb, output_template text, priority int4, trigger text,
    agent_slug text, external_id text, created_by text, max_attempts int4, forked_from uuid, fork_task text, start_at timestamptz,
    origin jsonb, input_declarations jsonb, state text, state_type text, attempt_number int4, effect_generation int4, failing bool, agent_count int4,
    task_count int4, tasks_completed int4, tasks_failed int4, tasks_skipped int4, steps_total int4, total_tokens int4,
    total_cost numeric, started_at timestamptz, completed_at timestamptz, error_code text, error_message text,
    output jsonb, version_id int4, plan_version int4, replans int4, gate text, state_since timestamptz,
    active_ms int8, active_since timestamptz, quiet_since timestamptz, credits_charged_before numeric,
    credits_refunded numeric, credits_uncollected numeric, hard_limit_usd numeric, soft_limit_usd numeric,
    budget_warned bool);

-- Recipes: missions that are kept to be run again. Beside what runs (template_definition), what PRD-101 §7.4 wants to see.
alter table workflow_recipes
    add column if not exists recipe_id uuid not null default gen_random_uuid(),
    add column if not exists description text,
    add column if not exists steps jsonb not null default '[]',
    add column if not exists template_id varchar(255),
    add column if not exists template_definition jsonb not null default '{}',
    add column if not exists owner_type varchar(30) not null default 'workspace',
    add column if not exists tags jsonb not null default '[]',
    add column if not exists created_by varchar(255),
    add column if not exists version integer not null default 1,
    add column if not exists updated_by varchar(255),
    add column if not exists updated_at timestamptz not null default now();

create unique index if not exists ux_workflow_recipes_id on workflow_recipes (recipe_id);
create unique index if not exists ux_workflow_recipes_name on workflow_recipes (workspace_id, name);

-- As each version was: runs say which one they are of.
create table if not exists recipe_versions (
    recipe_id uuid not null references workflow_recipes (recipe_id) on delete cascade,
    version integer not null check (version >= 1),
    workspace_id uuid not null,
    mission jsonb not null,
    created_by varchar(255) not null,
    created_at timestamptz not null,
    primary key (recipe_id, version)
);
select keelson_fence('recipe_versions', 'workspace_id = (select keelson_workspace())');
