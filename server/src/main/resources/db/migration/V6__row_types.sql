-- The rows that set-wise statements take as one array. A later version that needs other columns makes a type of
-- another name and leaves these to the servers that still run.

drop type if exists keelson_agent_change;
create type keelson_agent_change as (id uuid, state text, state_type text, started_at timestamptz,
    completed_at timestamptz);

drop type if exists keelson_agent_new;
create type keelson_agent_new as (id uuid, run_id uuid, workspace_id uuid, attempt int4, number int4, name text,
    state text, state_type text, started_at timestamptz, completed_at timestamptz);

drop type if exists keelson_artifact_new;
create type keelson_artifact_new as (id uuid, run_id uuid, workspace_id uuid, attempt int4, step_id uuid, name text,
    content_type text, size_bytes int8, sha256 text, storage_key text);

drop type if exists keelson_attempt;
create type keelson_attempt as (run_id uuid, attempt_number int4, state text, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text);

drop type if exists keelson_beat;
create type keelson_beat as (workspace_id uuid, holder text, step_id uuid, epoch int4, progress float8, message text,
    details jsonb);

drop type if exists keelson_dependency_new;
create type keelson_dependency_new as (task_id uuid, depends_on_id uuid, dependency_type text);

drop type if exists keelson_event_new;
create type keelson_event_new as (run_id uuid, seq int8, attempt int4, agent_id uuid, task_id uuid, step_id uuid,
    event_type text, payload jsonb, actor_type text, actor_id text, at timestamptz);

drop type if exists keelson_lease_kept;
create type keelson_lease_kept as (task_id uuid, lane int4, holder text);

drop type if exists keelson_log_line;
create type keelson_log_line as (step_id uuid, epoch int4, attempt int4, ordinal int4, message text);

drop type if exists keelson_queue_item;
create type keelson_queue_item as (task_id uuid, lane int4, run_id uuid, workspace_id uuid, tool text, priority int4,
    queued_at timestamptz, holder text, lease_ms int8, timeout_ms int8);

drop type if exists keelson_queue_key;
create type keelson_queue_key as (task_id uuid, lane int4);

drop type if exists keelson_result_new;
create type keelson_result_new as (step_id uuid, epoch int4, run_id uuid, outcome text, error_code text, tokens int8,
    cost numeric, holder text);

drop type if exists keelson_run_change;
create type keelson_run_change as (id uuid, state text, state_type text, attempt_number int4, effect_generation int4,
    failing bool, agent_count int4, task_count int4, tasks_completed int4, tasks_failed int4, tasks_skipped int4,
    steps_total int4, total_tokens int4, total_cost numeric, started_at timestamptz, completed_at timestamptz,
    error_code text, error_message text, output jsonb, version_id int4);

drop type if exists keelson_run_head;
create type keelson_run_head as (run_id uuid, version_id int4, last_seq int8, steps_completed int4, total_tokens int8,
    total_cost numeric);

drop type if exists keelson_run_key;
create type keelson_run_key as (run_id uuid);

drop type if exists keelson_run_new;
create type keelson_run_new as (id uuid, workspace_id uuid, title text, description text, goal text, plan jsonb,
    config jsonb, policy jsonb, inputs jsonb, tags jsonb, output_template text, priority int4, trigger text,
    agent_slug text, external_id text, created_by text, max_attempts int4, state text, state_type text,
    attempt_number int4, effect_generation int4, failing bool, agent_count int4, task_count int4,
    tasks_completed int4, tasks_failed int4, tasks_skipped int4, steps_total int4,
    total_tokens int4, total_cost numeric, started_at timestamptz, completed_at timestamptz, error_code text,
    error_message text, output jsonb, version_id int4);

drop type if exists keelson_step_change;
create type keelson_step_change as (id uuid, state text, state_type text, attempt int4, failures int4,
    deliveries int4, lease_epoch int4, result_epoch int4, error_code text, error_message text, error_class text,
    tokens int8, cost numeric, next_run_at timestamptz, started_at timestamptz, completed_at timestamptz,
    output jsonb, resolved_input jsonb);

drop type if exists keelson_step_new;
create type keelson_step_new as (id uuid, run_id uuid, task_id uuid, workspace_id uuid, attempt_of_run int4,
    name text, kind text, tool text, "position" int4, turn int4, input jsonb, retry jsonb, timeout_ms int8,
    state text, state_type text, attempt int4, failures int4, deliveries int4, lease_epoch int4, result_epoch int4,
    error_code text, error_message text, error_class text, tokens int8, cost numeric, next_run_at timestamptz,
    started_at timestamptz, completed_at timestamptz, output jsonb, resolved_input jsonb);

drop type if exists keelson_task_change;
create type keelson_task_change as (id uuid, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, output jsonb, output_summary text);

drop type if exists keelson_task_new;
create type keelson_task_new as (id uuid, run_id uuid, workspace_id uuid, attempt int4, run_agent_id uuid, key text,
    sequence_number int4, title text, description text, task_type text, success_criteria text, trigger_rule text,
    when_expr text, for_each text, output_template text, parallel_steps bool, step_specs jsonb, group_id uuid,
    item_index int4, item jsonb, state text, state_type text, attempt_number int4, continuation_count int4,
    tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz, completed_at timestamptz,
    error_code text, error_message text, carried_from uuid, output jsonb, output_summary text);

drop type if exists keelson_timer;
create type keelson_timer as (kind text, subject uuid, run_id uuid, due_at timestamptz);

drop type if exists keelson_timer_key;
create type keelson_timer_key as (kind text, subject uuid);
