-- Takes the orchestration out of a database: all that runs, their tasks, steps, events and files' records are in, and the
-- webhooks. What stood there before it stays (workspaces, agents, board_tasks, agent_reports, workflow_recipes), and so do keys, secrets,
-- the ledger and the audit log. Runs' own tasks leave the board; reports stay, without the column that names a task.
-- A server that starts on the database afterwards creates everything again, empty. Stop all servers first, and make a backup:
--   psql --single-transaction --set ON_ERROR_STOP=1 --file scripts/downgrade.sql DATABASE-URL
-- See docs/guide/board.md.

delete from board_tasks where source_type in ('orchestration', 'orchestration_task');
drop index if exists uq_board_tasks_orchestration_run, uq_board_tasks_orchestration_task, ix_agent_reports_orch_task;
alter table agent_reports drop column if exists orchestration_task_id;

-- Tables that Keelson made refer to others from here on. Rows that refer to nothing go first.
drop trigger if exists workspaces_drop_board on workspaces;
drop trigger if exists board_tasks_leave_children on board_tasks;
update board_tasks b set parent_task_id = null
 where parent_task_id is not null and not exists (select from board_tasks p where p.id = b.parent_task_id);
delete from board_tasks b where not exists (select from workspaces w where w.id = b.workspace_id);
delete from agent_reports r where not exists (select from workspaces w where w.id = r.workspace_id);
do $$
declare
    each record;
begin
    for each in select * from (values
        ('board_tasks', 'workspace_id', 'workspaces', 'cascade'), ('board_tasks', 'parent_task_id', 'board_tasks', 'set null'),
        ('agent_reports', 'workspace_id', 'workspaces', 'cascade')) as reference (place, name, whole, action)
    loop
        if not exists (select from pg_constraint where contype = 'f' and conrelid = each.place::regclass
                and confrelid = each.whole::regclass) then
            execute format('alter table %I add foreign key (%I) references %I (id) on delete %s', each.place, each.name,
                each.whole, each.action);
        end if;
    end loop;
end $$;

drop view if exists inbox_questions, open_questions, work_results, free_usage, orchestration_steps, orchestration_event_feed, orchestration_events_kept, run_event_packs_kept, orchestration_events_archive,
    orchestration_events;
drop table if exists event_watermark, step_results, work_queue, timers, step_logs, step_progress, artifacts, artifact_uploads,
    upload_slots, escalation_tickets, proposals, inbox_assignments, run_signals, run_plans, webhook_deliveries, webhook_endpoints, webhook_feed, status_document_progress, workers, run_agents, run_attempts,
    run_heads, engine_nodes, engine_outages, database_losses, task_steps, run_event_packs_archive, run_event_packs, orchestration_task_dependencies, orchestration_tasks,
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

drop type if exists task_step_planned, task_step_completed, task_step_completed_2;

-- As if no file had ever been applied: every file may be applied to what is left.
delete from flyway_schema_history;
