package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** PRD-101's acceptance criteria AC-28 to AC-32; its "Alembic" is our numbered files, its downgrade scripts/downgrade.sql. */
@Breadth.Spread
class MigrationAcceptanceTest {
    private static final List<String> ORCHESTRATION = List.of("orchestration_runs", "orchestration_tasks",
            "orchestration_task_dependencies", "orchestration_events", "orchestration_events_archive");

    private static final String GIVEN = """
            create table workspaces (id uuid primary key default gen_random_uuid(), name varchar(255) not null,
                created_at timestamptz not null default now());
            create table agents (id serial primary key,
                workspace_id uuid not null references workspaces (id) on delete cascade, slug varchar(100) not null,
                name varchar(255) not null, created_at timestamptz not null default now(),
                unique (workspace_id, slug));
            create table board_tasks (id serial primary key,
                workspace_id uuid not null references workspaces (id) on delete cascade, title varchar(500) not null,
                description text, status varchar(30) not null default 'inbox',
                parent_task_id integer references board_tasks (id) on delete set null,
                source_type varchar(30) not null default 'user', source_id varchar(255),
                created_at timestamptz not null default now(), updated_at timestamptz not null default now());
            create table agent_reports (id uuid primary key default gen_random_uuid(),
                workspace_id uuid not null references workspaces (id) on delete cascade,
                report_type varchar(30) not null, title varchar(500) not null,
                created_at timestamptz not null default now());
            create table workflow_recipes (id serial primary key,
                workspace_id uuid not null references workspaces (id) on delete cascade, name varchar(255) not null,
                execution_config jsonb not null default '{}', created_at timestamptz not null default now())""";

    private final DatabaseUrl url = TestDatabase.createEmptyUrl();

    @Test
    void ac28AnEmptyDatabaseIsBroughtUp() throws SQLException {
        assertThat(Migrations.migrate(url)).isPositive();
        assertThat(tables()).containsAll(ORCHESTRATION);
    }

    @Test
    void ac29AndAc32WhatWasThereBeforeIsLeftAsItWas() throws SQLException {
        List<String> before = neighbours();
        assertThat(Migrations.migrate(url)).isPositive();
        assertThat(tables()).containsAll(ORCHESTRATION);
        assertThat(rows()).isEqualTo(before).hasSize(3);
    }

    @Test
    void ac30TheDowngradeTakesTheOrchestrationOutAndNothingElse() throws Exception {
        List<String> before = neighbours();
        List<String> references = references();
        Migrations.migrate(url);
        execute("""
                insert into orchestration_runs (id, workspace_id, title, goal, created_by)
                select '00000000-0000-7000-8000-000000000001', id, 't', 'g', 'b' from workspaces""");
        execute("""
                insert into run_event_packs (run_id, first_seq, body)
                values ('00000000-0000-7000-8000-000000000001', 1, '[{"e": "run_created", "p": {}}]')""");
        execute("""
                insert into board_tasks (workspace_id, title, source_type, source_id)
                select id, 'Mission', 'orchestration', '00000000-0000-7000-8000-000000000001' from workspaces""");
        execute("""
                insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account,
                    idempotency_key, actor_type, created_at)
                select id, 'grant', 1, 'funding', 'available', 'k', 'system', now() from workspaces""");

        execute(Files.readString(Path.of("..", "scripts", "downgrade.sql")));

        assertThat(tables()).doesNotContainAnyElementsOf(ORCHESTRATION).contains("board_tasks", "agent_reports",
                "billing_ledger");
        assertThat(query("""
                select column_name from information_schema.columns
                 where table_name = 'agent_reports' and column_name = 'orchestration_task_id'""")).isEmpty();
        assertThat(query("select typname from pg_type where typname like 'keelson%_new%'")).isEmpty();
        assertThat(rows()).isEqualTo(before);
        references.add("board_tasks FOREIGN KEY (assigned_agent_id) REFERENCES agents(id) ON DELETE SET NULL");
        assertThat(references()).containsExactlyInAnyOrderElementsOf(references);
        assertThat(query("select amount::text from billing_ledger")).hasSize(1);

        assertThat(Migrations.migrate(url)).isPositive();
        assertThat(tables()).containsAll(ORCHESTRATION);
        assertThat(rows()).isEqualTo(before);
        assertThat(query("select amount::text from billing_ledger")).hasSize(1);
    }

    /** Keelson's own tables refer to nothing. */
    @Test
    void theDowngradeOfKeelsonsOwnTablesLeavesThemWithReferences() throws Exception {
        Migrations.migrate(url);
        execute("insert into workspaces (name) values ('ours')");
        execute("insert into board_tasks (workspace_id, title, parent_task_id) select id, 'Mow', 999999 from workspaces");
        execute("insert into board_tasks (workspace_id, title) values (gen_random_uuid(), 'Nowhere')");
        execute("insert into agent_reports (workspace_id, report_type, title) values (gen_random_uuid(), 'x', 'Nowhere')");

        execute(Files.readString(Path.of("..", "scripts", "downgrade.sql")));

        assertThat(query("select concat_ws(' ', title, parent_task_id) from board_tasks")).containsExactly("Mow");
        assertThat(query("select title from agent_reports")).isEmpty();
        assertThat(references()).containsExactlyInAnyOrder(
                "board_tasks FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE",
                "board_tasks FOREIGN KEY (parent_task_id) REFERENCES board_tasks(id) ON DELETE SET NULL",
                "board_tasks FOREIGN KEY (assigned_agent_id) REFERENCES agents(id) ON DELETE SET NULL",
                "agent_reports FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE");
    }

    @Test
    void ac31EveryFileCanBeAppliedAgain() throws SQLException {
        int files = Migrations.migrate(url);
        List<String> schema = schema();
        execute("delete from flyway_schema_history");
        assertThat(Migrations.migrate(url)).isEqualTo(files);
        assertThat(schema()).isEqualTo(schema);
    }

    /** A database with what PRD-101 takes as given, as the platform has it, and a row of each. */
    private List<String> neighbours() throws SQLException {
        execute(GIVEN);
        execute("insert into workspaces (name) values ('ours')");
        execute("insert into agents (workspace_id, slug, name) select id, 'a', 'A' from workspaces");
        execute("""
                insert into board_tasks (workspace_id, title, status, source_type)
                select id, 'Mow the lawn', 'done', 'recipe' from workspaces""");
        execute("""
                insert into agent_reports (workspace_id, report_type, title)
                select id, 'standup', 'Monday' from workspaces""");
        return rows();
    }

    private List<String> rows() throws SQLException {
        return query("""
                select concat_ws('|', 'agent', id, workspace_id, slug, name, created_at) from agents
                union all
                select concat_ws('|', 'task', id, workspace_id, title, status, source_type, created_at, updated_at)
                  from board_tasks
                union all
                select concat_ws('|', 'report', id, workspace_id, report_type, title, created_at) from agent_reports
                order by 1""");
    }

    private List<String> references() throws SQLException {
        return query("""
                select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
                 where contype = 'f' and conrelid::regclass::text in ('board_tasks', 'agent_reports')""");
    }

    private List<String> tables() throws SQLException {
        return query(
                "select relname from pg_class where relkind in ('r', 'v') and relnamespace = 'public'::regnamespace");
    }

    private List<String> schema() throws SQLException {
        return query("""
                select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
                  from information_schema.columns where table_schema = 'public'
                union all select indexdef from pg_indexes where schemaname = 'public'
                union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
                 where connamespace = 'public'::regnamespace
                order by 1""");
    }

    private void execute(String sql) throws SQLException {
        try (Connection c = url.connect(); Statement statement = c.createStatement()) {
            statement.execute(sql);
        }
    }

    private List<String> query(String sql) throws SQLException {
        try (Connection c = url.connect(); Statement statement = c.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (row.next()) {
                found.add(row.getString(1));
            }
            return found;
        }
    }
}
