-- Tokens that cost nothing, so that reports of usage name their models: what costs something is in the ledger.
alter table work_results add column if not exists model text;

create index if not exists ix_work_results_free on work_results (recorded_at) where tokens > 0 and cost = 0;

drop type if exists keelson_result_new_v3;
create type keelson_result_new_v3 as (step_id uuid, epoch int4, run_id uuid, outcome text, attempt int4,
    started_at timestamptz, input jsonb, error_code text, error_class text, error_message text, model text, tokens int8,
    cost numeric, holder text);

create or replace view free_usage with (security_invoker = true) as
select s.workspace_id, w.run_id, a.name as agent, w.model, s.tool, w.tokens, w.recorded_at
  from work_results w
  join orchestration_steps s on s.id = w.step_id
  join orchestration_tasks t on t.id = s.task_id
  left join run_agents a on a.id = t.run_agent_id
 where w.tokens > 0 and w.cost = 0;
