package io.keelson.server.base.db;

/** The platform of PRD-101, with rows in its tables. */
public final class Platform {

    /** Before it had an orchestration. */
    public static final String TABLES = """
            create table workspaces (id uuid primary key, name varchar(255) not null, slug varchar(100));
            create table skills (id serial primary key, name text not null);
            create table agents (id serial primary key, workspace_id uuid references workspaces (id) on delete cascade,
                name varchar(255) not null, agent_type varchar(50) not null default 'custom', model varchar(200));
            create table board_tasks (id serial primary key,
                workspace_id uuid not null references workspaces (id) on delete cascade, title varchar(500) not null,
                description text, status varchar(30) not null default 'inbox', priority varchar(20) default 'medium',
                parent_task_id integer references board_tasks (id) on delete set null,
                source_type varchar(30) not null, source_id varchar(255), tags jsonb, planning_data jsonb,
                due_at timestamptz, created_at timestamptz default now(), updated_at timestamptz);
            create table agent_reports (id uuid primary key,
                workspace_id uuid not null references workspaces (id) on delete cascade,
                report_type varchar(30) not null, title varchar(500) not null, file_path varchar(500),
                created_at timestamptz not null default now());
            create table workflow_recipes (id serial primary key,
                workspace_id uuid not null references workspaces (id) on delete cascade, name varchar(255) not null,
                template_id varchar(255), steps jsonb, execution_config jsonb, owner_id varchar(100));
            insert into workspaces values ('00000000-0000-4000-8000-000000000001', 'theirs', 'theirs');
            insert into skills (name) values ('writing');
            insert into agents (workspace_id, name) select id, n from workspaces, unnest('{Ann,Bob}'::text[]) n;
            insert into board_tasks (workspace_id, title, source_type, due_at)
                select id, 'Mow the lawn', 'user', now() from workspaces;
            insert into agent_reports (id, workspace_id, report_type, title, file_path)
                select gen_random_uuid(), id, 'standup', 'Monday', '/monday' from workspaces;
            insert into workflow_recipes (workspace_id, name, owner_id) select id, 'daily', 'u' from workspaces""";

    /** Its tables, as far as names and references go. */
    public static final String ORCHESTRATION = """
            create table orchestration_runs (id uuid primary key default gen_random_uuid(),
                workspace_id uuid not null references workspaces (id) on delete cascade, title varchar(500) not null,
                goal text not null, state varchar(30) not null default 'pending',
                state_type varchar(10) not null default 'scheduled', created_by varchar(255) not null,
                created_at timestamptz not null default now());
            create index ix_orch_runs_ws_created on orchestration_runs (workspace_id, created_at desc);
            create index ix_orch_runs_active on orchestration_runs (workspace_id)
                where state_type in ('scheduled', 'running');
            create table orchestration_tasks (id uuid primary key default gen_random_uuid(),
                run_id uuid not null references orchestration_runs (id) on delete cascade,
                workspace_id uuid not null references workspaces (id) on delete cascade, title varchar(500) not null,
                state varchar(30) not null default 'pending', agent_id integer references agents (id) on delete set null,
                board_task_id integer references board_tasks (id) on delete set null);
            create index ix_orch_tasks_run on orchestration_tasks (run_id);
            create index ix_orch_tasks_ws_state on orchestration_tasks (workspace_id, state);
            create table orchestration_task_dependencies (
                task_id uuid not null references orchestration_tasks (id) on delete cascade,
                depends_on_id uuid not null references orchestration_tasks (id) on delete cascade,
                primary key (task_id, depends_on_id));
            create index ix_orch_deps_reverse on orchestration_task_dependencies (depends_on_id);
            create table orchestration_events (id bigserial primary key,
                run_id uuid not null references orchestration_runs (id) on delete cascade,
                event_type varchar(50) not null, created_at timestamptz not null default now());
            create index ix_orch_events_type on orchestration_events (event_type);
            alter table agent_reports
                add column orchestration_task_id uuid references orchestration_tasks (id) on delete set null;
            create index ix_agent_reports_orch_task on agent_reports (orchestration_task_id)
                where orchestration_task_id is not null;
            create unique index uq_board_tasks_orchestration_run on board_tasks (source_id)
                where source_type = 'orchestration';
            create unique index uq_board_tasks_orchestration_task on board_tasks (source_id)
                where source_type = 'orchestration_task';
            insert into orchestration_runs (workspace_id, title, goal, created_by)
                select id, 'theirs', 'theirs', 'u' from workspaces;
            insert into orchestration_tasks (run_id, workspace_id, title)
                select id, workspace_id, 'theirs' from orchestration_runs;
            update agent_reports set orchestration_task_id = (select id from orchestration_tasks)""";

    private Platform() {}
}
