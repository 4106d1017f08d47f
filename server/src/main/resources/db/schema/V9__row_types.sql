-- The rows that the server's set statements take as one array (docs/adr/0011): a type's attributes are the columns of the
-- RowSetStatement that names it, in their order; SchemaTest compares the two. After a release a statement that needs other
-- columns needs a type of another name, so that servers of two versions can work at once.

do $$
declare
    each record;
begin
    for each in select relname as name from pg_class
                 where relkind = 'c' and relname like 'keelson\_%' and relnamespace = current_schema()::regnamespace
    loop
        execute format('drop type %I', each.name);
    end loop;
end $$;

create type keelson_agent_change as (id uuid, state text, state_type text, started_at timestamptz,
    completed_at timestamptz, attempt_number int4, failing bool, failure_ignored bool, next_run_at timestamptz,
    begun_at timestamptz);
create type keelson_agent_new as (id uuid, run_id uuid, workspace_id uuid, attempt int4, number int4, name text,
    state text, state_type text, started_at timestamptz, completed_at timestamptz, attempt_number int4, failing bool,
    failure_ignored bool, next_run_at timestamptz, begun_at timestamptz);
create type keelson_artifact_end as (run_id uuid, ended_at timestamptz, retention_seconds int8);
create type keelson_artifact_new as (id uuid, run_id uuid, workspace_id uuid, attempt int4, step_id uuid, name text,
    content_type text, size_bytes int8, sha256 text, storage_key text, retention_seconds int8);
create type keelson_artifact_successor as (id uuid, run_id uuid, attempt int4, name text);
create type keelson_attempt as (run_id uuid, attempt_number int4, state text, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, credits_reserved numeric, credits_charged numeric,
    credits_refunded numeric, uncollected numeric, settled_at timestamptz, failures int4);
create type keelson_beat as (workspace_id uuid, holder text, step_id uuid, epoch int4, progress float8, message text,
    details jsonb);
create type keelson_board_change as (mission text, task_id uuid, status text, started_at timestamptz,
    completed_at timestamptz, tags jsonb, result text, error_message text, planning_data jsonb);
create type keelson_board_run as (workspace_id uuid, title text, description text, status text, priority text,
    created_by text, agent_slug text, tags jsonb, planning_data jsonb, run_id uuid, mission text, error_message text,
    started_at timestamptz, completed_at timestamptz);
create type keelson_board_task as (workspace_id uuid, title text, description text, status text, review_mode text,
    assignee text, agent_id int4, tags jsonb, planning_data jsonb, run_id uuid, mission text, subject text,
    result text, error_message text, started_at timestamptz, completed_at timestamptz);
create type keelson_call_answer as (step_id uuid, answers jsonb, answered_by text);
create type keelson_call_wait as (step_id uuid, workspace_id uuid, run_id uuid, task_id uuid, system text, tool text,
    state text, server_state text, remote_task text, questions text, answers jsonb, rounds int4, lease_epoch int4);
create type keelson_credit_change as (workspace_id uuid, slot int4, available numeric, spent numeric, decided bool);
create type keelson_dependency_new as (task_id uuid, depends_on_id uuid, dependency_type text);
create type keelson_event_pack as (run_id uuid, first_seq int8, attempt int4, agent_id uuid, task_id uuid,
    actor_type text, actor_id text, at timestamptz, body text);
create type keelson_external_id as (workspace_id uuid, external_id text);
create type keelson_key_use as (workspace_id uuid, endpoint text, idempotency_key text, request_hash text,
    run_id uuid);
create type keelson_lease_kept as (task_id uuid, lane int4, holder text);
create type keelson_log_line as (step_id uuid, epoch int4, attempt int4, ordinal int4, message text);
create type keelson_plan as (run_id uuid, version int4, plan jsonb);
create type keelson_proposal_end as (id uuid, state text, decided_at timestamptz, decided_by text, comment text);
create type keelson_proposal_new as (id uuid, workspace_id uuid, run_id uuid, attempt int4, task_id uuid,
    step_id uuid, title text, body text, data jsonb, created_at timestamptz, expires_at timestamptz);
create type keelson_queue_item as (task_id uuid, lane int4, run_id uuid, workspace_id uuid, tool text, model text,
    priority int4, queued_at timestamptz, holder text, lease_ms int8, timeout_ms int8,
    held_credits numeric, max_output_tokens int8, requested bool);
create type keelson_queue_key as (task_id uuid, lane int4);
create type keelson_report_run as (run_id uuid, failures int4, tokens int8, cost numeric);
create type keelson_report_task as (task_id uuid, report_type text, agent text);
create type keelson_result_new as (step_id uuid, epoch int4, run_id uuid, outcome text, attempt int4,
    started_at timestamptz, input jsonb, output_hash int8, error_code text, error_class text, error_message text,
    system text, model text, tokens int8, usage jsonb, cost numeric, holder text);
create type keelson_run_change as (id uuid, state text, state_type text, attempt_number int4, effect_generation int4,
    failing bool, agent_count int4, task_count int4, tasks_completed int4, tasks_failed int4, tasks_skipped int4,
    steps_total int4, total_tokens int4, total_cost numeric, started_at timestamptz, completed_at timestamptz,
    error_code text, error_message text, output jsonb, version_id int4, plan_version int4, replans int4, gate text,
    state_since timestamptz, active_ms int8, active_since timestamptz, quiet_since timestamptz,
    credits_charged_before numeric, credits_refunded numeric, credits_uncollected numeric, hard_limit_usd numeric,
    soft_limit_usd numeric, budget_warned bool, turn_model text, ended_ms int8,
    begun_at timestamptz);
create type keelson_run_child as (step_id uuid, workspace_id uuid, run_id uuid, child_run_id uuid, task_key text,
    allotment numeric, charged numeric, tokens int8, ended bool);
create type keelson_run_head as (run_id uuid, version_id int4, last_seq int8, steps_completed int4, total_tokens int8,
    usage jsonb, total_cost numeric, credits_left numeric, credits_charged numeric, credits_remainder numeric);
create type keelson_run_key as (run_id uuid);
create type keelson_run_new as (id uuid, workspace_id uuid, title text, description text, goal text, plan jsonb,
    config jsonb, policy jsonb, inputs jsonb, tags jsonb, output_template text, priority int4, trigger text,
    agent_slug text, external_id text, created_by text, max_attempts int4, forked_from uuid, fork_task text,
    start_at timestamptz, origin jsonb, input_declarations jsonb, state text, state_type text, attempt_number int4,
    effect_generation int4, failing bool, agent_count int4, task_count int4, tasks_completed int4, tasks_failed int4,
    tasks_skipped int4, steps_total int4, total_tokens int4, total_cost numeric, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, output jsonb, version_id int4, plan_version int4,
    replans int4, gate text, state_since timestamptz, active_ms int8, active_since timestamptz,
    quiet_since timestamptz, credits_charged_before numeric, credits_refunded numeric, credits_uncollected numeric,
    hard_limit_usd numeric, soft_limit_usd numeric, budget_warned bool, turn_model text, ended_ms int8,
    begun_at timestamptz);
create type keelson_run_parent as (run_id uuid, workspace_id uuid, parent_run_id uuid, parent_step_id uuid,
    depth int4, abandon bool, allotment numeric, seen int4, held bool);
create type keelson_signal_new as (id uuid, workspace_id uuid, run_id uuid, seq int8, name text, payload jsonb,
    sent_by text, received_at timestamptz, step_id uuid, taken_at timestamptz);
create type keelson_signal_taken as (id uuid, step_id uuid, taken_at timestamptz);
create type keelson_step_change as (id uuid, state text, state_type text, attempt int4, failures int4,
    deliveries int4, lease_epoch int4, result_epoch int4, error_code text, error_message text, error_class text,
    tokens int8, cost numeric, next_run_at timestamptz, started_at timestamptz, completed_at timestamptz,
    output jsonb, resolved_input jsonb, granted_retries int4, failure_ignored bool, completed_by text, result_input jsonb,
    output_hash int8, model text, usage jsonb, handed_to uuid, deferred_since timestamptz, deferred_for text,
    task_attempt int4, worst_case jsonb, gate text, metered jsonb, kept_hold jsonb, call_result int8);
create type keelson_step_key as (step_id uuid);
create type keelson_step_new as (id uuid, run_id uuid, task_id uuid, workspace_id uuid, attempt_of_run int4,
    task_attempt int4, name text, kind text, tool text, "position" int4, turn int4, lane int4, input jsonb, retry jsonb,
    timeout_ms int8, state text, state_type text, attempt int4, failures int4, deliveries int4, lease_epoch int4,
    result_epoch int4, error_code text, error_message text, error_class text, tokens int8, cost numeric,
    next_run_at timestamptz, started_at timestamptz, completed_at timestamptz, output jsonb, resolved_input jsonb,
    granted_retries int4, failure_ignored bool, completed_by text, result_input jsonb, output_hash int8, model text, usage jsonb,
    call_effect text, deferred_since timestamptz, deferred_for text, worst_case jsonb, gate text, metered jsonb,
    kept_hold jsonb, call_result int8, called_by uuid);
create type keelson_step_planned as (id uuid, run_id uuid, task_id uuid, workspace_id uuid, attempt_of_run int4,
    task_attempt int4, name text, kind text, tool text, "position" int4, turn int4, lane int4, input jsonb, retry jsonb,
    timeout_ms int8, started_at timestamptz);
create type keelson_step_try as (id uuid, started_at timestamptz, completed_at timestamptz, tokens int8, cost numeric,
    output jsonb, completed_by text, result_input jsonb, output_hash int8, model text, usage jsonb, handed_to uuid);
create type keelson_task_budget as (run_id uuid, task_key text, workspace_id uuid, budget_usd numeric, charged numeric,
    exceeded bool);
create type keelson_task_change as (id uuid, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, output jsonb, output_summary text, output_ref text,
    failures int4, granted_retries int4, effect_generation int4, failure_ignored bool, superseded bool, next_run_at timestamptz,
    state_since timestamptz, begun_at timestamptz, error_class text, verifier_score numeric, verified_by text, agent_id int4,
    agent_type text, model_override text);
create type keelson_task_new as (id uuid, run_id uuid, workspace_id uuid, attempt int4, run_agent_id uuid, key text,
    sequence_number int4, title text, description text, task_type text, success_criteria text, trigger_rule text,
    when_expr text, for_each text, output_template text, parallel_steps bool, step_specs jsonb, policy jsonb,
    group_id uuid, item_index int4, item jsonb, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, reused_from uuid, output jsonb,
    output_summary text, output_ref text, agent_id int4, agent_type text, model_override text, tools_requested jsonb,
    failures int4, granted_retries int4, effect_generation int4, failure_ignored bool, superseded bool, next_run_at timestamptz,
    state_since timestamptz, begun_at timestamptz, error_class text, verifier_score numeric, verified_by text,
    on_board text);
create type keelson_ticket_change as (id uuid, severity text, resolution text, resolved_by text, comment text,
    resolved_at timestamptz);
create type keelson_ticket_new as (id uuid, workspace_id uuid, run_id uuid, attempt int4, kind text, task_id uuid,
    step_id uuid, severity text, reason text, error_code text, system text, message text, resolution text, resolved_by text,
    comment text, opened_at timestamptz, resolved_at timestamptz);
create type keelson_timer as (kind text, subject uuid, run_id uuid, due_at timestamptz, workspace_id uuid, question text, asked_at timestamptz,
    answer_by timestamptz, cause text);
create type keelson_timer_key as (kind text, subject uuid);
create type keelson_transfer as (workspace_id uuid, transaction_type text, amount numeric, cost numeric, debit_account text,
    credit_account text, run_id uuid, attempt_number int4, step_id uuid, idempotency_key text, tool text, model text,
    agent text, tokens int8, usage jsonb, price_version int4, purpose text, estimated bool,
    actor_type text, actor_id text);
