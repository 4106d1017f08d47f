-- The severities of tickets in the handoff document's words (§6.2), and what each table is for. Servers of before may still
-- write the former words; they are read as the ones that took their places.
alter table escalation_tickets drop constraint if exists escalation_tickets_severity_check;
alter table escalation_tickets add constraint escalation_tickets_severity_check
    check (severity in ('medium', 'high', 'critical', 'warning', 'error')) not valid;
update escalation_tickets set severity = case severity when 'warning' then 'medium' else 'high' end
 where severity in ('warning', 'error');
alter table escalation_tickets validate constraint escalation_tickets_severity_check;
comment on column escalation_tickets.severity is 'medium, high or critical; warning and error are a former server''s medium and high';

-- PRD-101 §5.4.
alter table orchestration_task_dependencies add column if not exists created_at timestamptz not null default now();

-- A table that was there before keeps the comment that it has.
do $$
declare
    each record;
begin
    for each in select * from (values
        ('agent_reports', 'What became of tasks and of runs, in Markdown; outlives what it is about (PRD-101 §7.3).'),
        ('agents', 'The roster: agents that tasks can be given to.'),
        ('api_keys', 'API keys, by the hash of their text.'),
        ('artifact_uploads', 'Files that workers have uploaded and no result has named yet.'),
        ('artifacts', 'Files that steps left behind; the bytes are in the artifact store.'),
        ('artifacts_coming', 'Files stored for steps at work, counted against the storage limits.'),
        ('billing_ledger', 'Append-only double-entry ledger of credits.'),
        ('board_tasks', 'The work board: runs, their tasks, and tasks of people (PRD-101 §7.2).'),
        ('bulk_jobs', 'Commands to all runs that a filter finds, and how far they are.'),
        ('credit_balances', 'Credits of a workspace by account: the fold of its ledger.'),
        ('document_marks', 'Up to which event status documents are written.'),
        ('engine_nodes', 'Servers at work on this database, and their last sign of life.'),
        ('engine_outages', 'Times in which no server was at work; they count for no timeout.'),
        ('escalation_tickets', 'Questions that the failure policy asks a human; an escalated run waits for their answers.'),
        ('event_exports', 'Files of events that were moved to the artifact store.'),
        ('execution_commands', 'Commands with effects outside, once under each idempotency key (Gate4 AG-EXE-01).'),
        ('former_secrets', 'Values that secrets had before, struck out of what is still recorded.'),
        ('idempotency_cache', 'Answers of requests by idempotency key, for 24 hours.'),
        ('inbox_assignments', 'Who is to answer an item of the inbox, and until when.'),
        ('operator_audit', 'Append-only log of what people and keys did to the installation.'),
        ('orchestration_events', 'Append-only event log for mission lifecycle (PRD-101). Never UPDATE or DELETE from application code.'),
        ('orchestration_events_archive', 'Cold storage for orchestration events past the hot period (PRD-101).'),
        ('orchestration_runs', 'Mission-level execution records (PRD-101). One row per mission; its attempts are in run_attempts.'),
        ('orchestration_steps', 'Steps of tasks: what a worker claims under a lease and a lease epoch.'),
        ('orchestration_task_dependencies', 'DAG edges between orchestration tasks. Join table for dependency resolution (PRD-101).'),
        ('orchestration_tasks', 'Task-level execution records within a mission (PRD-101).'),
        ('paper_effects', 'What the paper adapter would have done outside.'),
        ('prices', 'What a million tokens of a model, or a call of a tool, costs in USD.'),
        ('principals', 'People and programs of a workspace that keys belong to.'),
        ('proposals', 'Proposals of steps that people accept or reject; they hold nothing up.'),
        ('recipe_versions', 'The versions of a recipe; never changed.'),
        ('run_agents', 'Agents at work in a run, one row per attempt of the run.'),
        ('run_attempts', 'Attempts of a run; never changed once ended.'),
        ('run_children', 'Runs that a step of a run has started, as the parent knows them.'),
        ('run_heads', 'What changes with every commit of a run: its version, last event and sums.'),
        ('run_parents', 'The step that has started a run, and what the run may cost by it.'),
        ('run_plans', 'Plans of a run that later ones have taken the places of.'),
        ('run_signals', 'Signals sent to a run, until a step takes them.'),
        ('schedule_ticks', 'Times of schedules and what became of them.'),
        ('schedules', 'When runs are to be made of recipes or missions by themselves.'),
        ('secrets', 'Values that plans name, sealed; opened at execution only.'),
        ('step_logs', 'Log lines of steps.'),
        ('step_progress', 'Progress that workers report of steps at work.'),
        ('timers', 'What is due when: retries, timeouts, reminders, evaluations.'),
        ('upload_places', 'Uploads under way, ten at a time in a workspace.'),
        ('webhook_deliveries', 'Events to be sent to webhook endpoints, and what came of it.'),
        ('webhook_endpoints', 'Where events are sent; a row is also the lease of its sender.'),
        ('webhook_feed', 'Up to which event deliveries are made.'),
        ('work_queue', 'Steps that are ready or held by a worker; a row is the lease.'),
        ('work_results', 'What each lease of a step came to; at most one row per lease.'),
        ('workers', 'Remote workers that have asked for work, and the tools that they serve.'),
        ('workflow_recipes', 'Missions kept to be run again (PRD-101 §7.4).'),
        ('workspace_limits', 'How much a workspace may use of what.'),
        ('workspaces', 'Tenants; every other row belongs to one.')) as said (name, purpose)
    loop
        if obj_description(to_regclass(each.name), 'pg_class') is null then
            execute format('comment on table %I is %L', each.name, each.purpose);
        end if;
    end loop;
    comment on view free_usage is 'Results with tokens and without a cost, with their agent, model and tool.';
    comment on view orchestration_events_kept is 'Events of the hot table and of the archive as one.';
end $$;
