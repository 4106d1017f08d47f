-- Takes the orchestration out of a database: all that runs, their tasks, steps, events and files' records are in, and the
-- webhooks. What stood there before it stays (workspaces, agents, board_tasks, agent_reports, workflow_recipes), and so do keys, secrets,
-- the ledger and the audit log. Runs' own tasks leave the board; reports stay, without the column that names a task.
-- A server that starts on the database afterwards creates everything again, empty. Stop all servers first, and make a backup:
--   psql --single-transaction --set ON_ERROR_STOP=1 --file scripts/downgrade.sql DATABASE-URL
-- See docs/guide/board.md.

delete from board_tasks where source_type in ('orchestration', 'orchestration_task');
drop index if exists uq_board_tasks_orchestration_run, uq_board_tasks_orchestration_task, ix_agent_reports_orch_task;
alter table agent_reports drop column if exists orchestration_task_id;

-- What stays refers as it did before. Where others wrote rows that refer to nothing, these go no further.
update board_tasks b set parent_task_id = null
 where parent_task_id is not null and not exists (select from board_tasks p where p.id = b.parent_task_id);
delete from board_tasks b where not exists (select from workspaces w where w.id = b.workspace_id);
delete from agent_reports r where not exists (select from workspaces w where w.id = r.workspace_id);
drop trigger if exists workspaces_drop_board on workspaces;
drop trigger if exists board_tasks_leave_children on board_tasks;
alter table board_tasks
    drop constraint if exists board_tasks_workspace_id_fkey,
    add constraint board_tasks_workspace_id_fkey foreign key (workspace_id) references workspaces (id) on delete cascade,
    drop constraint if exists board_tasks_parent_task_id_fkey,
    add constraint board_tasks_parent_task_id_fkey
        foreign key (parent_task_id) references board_tasks (id) on delete set null;
alter table agent_reports
    drop constraint if exists agent_reports_workspace_id_fkey,
    add constraint agent_reports_workspace_id_fkey
        foreign key (workspace_id) references workspaces (id) on delete cascade;

drop view if exists work_results, free_usage, orchestration_steps, orchestration_events_kept, run_event_packs_kept, orchestration_events_archive,
    orchestration_events;
drop table if exists step_results, work_queue, timers, step_logs, step_progress, artifacts, artifact_uploads,
    upload_slots, escalation_tickets, proposals, inbox_assignments, run_signals, run_plans, webhook_deliveries, webhook_endpoints, webhook_feed, status_document_progress, workers, run_agents, run_attempts,
    run_heads, engine_nodes, engine_outages, task_steps, run_event_packs_archive, run_event_packs, orchestration_task_dependencies, orchestration_tasks,
    orchestration_runs cascade;

delete from idempotency_cache;

-- The row types in which servers send what they write.
do $$
declare
    each record;
begin
    for each in select typname from pg_type
                 where typtype = 'c' and typname like 'keelson\_%' and typnamespace = 'public'::regnamespace
                   and typrelid in (select oid from pg_class where relkind = 'c') loop
        execute format('drop type if exists %I', each.typname);
    end loop;
end $$;

-- As if no file had ever been applied: every file may be applied to what is left.
delete from flyway_schema_history;
