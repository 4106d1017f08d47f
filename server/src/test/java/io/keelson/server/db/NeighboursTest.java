package io.keelson.server.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.db.DatabaseException.Code;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A database that the platform made, and that Keelson has never been on (PRD-101, AC-29). */
class NeighboursTest {

    private static final String PLATFORM = """
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

    private final DatabaseUrl url = TestDatabase.createEmptyUrl();

    @Test
    void tablesOfThePlatformAreBroughtUpAndThoseOfOthersLeftAlone() throws SQLException {
        execute(PLATFORM);
        List<String> before = rows();

        assertThat(Migrations.pending(url)).isPositive();
        assertThat(Migrations.migrate(url)).isPositive();

        assertThat(rows()).isEqualTo(before).hasSize(6);
        assertThat(query("select count(distinct slug)::text from agents where slug like 'agent-%'"))
                .containsExactly("2");
        assertThat(query("select concat(b.tags, r.steps) from board_tasks b, workflow_recipes r"))
                .containsExactly("[][]");
        execute("insert into agents (workspace_id, name) select id, 'Cid' from workspaces");
        execute("insert into agent_reports (workspace_id, report_type, title) select id, 'audit', 't' from workspaces");
        assertThat(Migrations.migrate(url)).isZero();
    }

    @Test
    void theAdoptedTablesHaveTheColumnsOfAFreshDatabase() throws SQLException {
        execute(PLATFORM);
        Migrations.migrate(url);
        List<String> adopted = columns(url);

        assertThat(adopted).containsAll(columns(TestDatabase.createUrl()));
    }

    @Test
    void aColumnThatKeelsonCannotFillIsRefusedAtEveryStart() throws SQLException {
        execute(PLATFORM);
        execute("alter table board_tasks add column tenant_code varchar(10) not null default 'x'");
        execute("alter table board_tasks alter column tenant_code drop default");
        execute("alter table agent_reports add column author text");
        execute("update agent_reports set author = 'a'");
        execute("alter table agent_reports alter column author set not null");

        assertThatThrownBy(() -> Migrations.migrate(url)).isInstanceOfSatisfying(DatabaseException.class,
                e -> assertThat(e.code()).isEqualTo(Code.DATABASE_NOT_ADOPTABLE))
                .hasMessageContaining("board_tasks.tenant_code is NOT NULL without a default")
                .hasMessageContaining("alter table agent_reports alter column author set default");
        assertThat(query("select to_regclass('flyway_schema_history')::text")).containsOnlyNulls();

        execute("alter table board_tasks alter column tenant_code set default 'x'");
        execute("alter table agent_reports alter column author set default 'keelson'");
        Migrations.migrate(url);
        execute("alter table agent_reports alter column author drop default");
        assertThatThrownBy(() -> Migrations.migrate(url)).hasMessageContaining("agent_reports.author");
        assertThatThrownBy(() -> Migrations.pending(url)).hasMessageContaining("agent_reports.author");
    }

    @Test
    void twoRecipesOfOneNameAreRefusedByName() throws SQLException {
        execute(PLATFORM);
        execute("insert into workflow_recipes (workspace_id, name) select id, 'daily' from workspaces");

        assertThatThrownBy(() -> Migrations.migrate(url)).hasMessageContaining(
                "workspace 00000000-0000-4000-8000-000000000001 has 2 rows with the name \"daily\" (ids 1, 2)");

        execute("update workflow_recipes set name = 'daily 2' where id = 2");
        assertThatCode(() -> Migrations.migrate(url)).doesNotThrowAnyException();
    }

    @Test
    void columnsOfAnotherTypeOrLengthAndTablesOfAnotherMakingAreRefused() throws SQLException {
        execute(PLATFORM);
        execute("alter table board_tasks alter column tags type json, alter column title type varchar(200)");
        execute("create table api_keys (id serial primary key, workspace_id uuid not null, name varchar(255) not null)");
        execute("create table schedules (id serial primary key)");

        assertThatThrownBy(() -> Migrations.migrate(url))
                .hasMessageContaining("alter table board_tasks alter column tags type jsonb using tags::jsonb")
                .hasMessageContaining("board_tasks.title is too short with 200 characters")
                .hasMessageContaining("api_keys has no column key_hash")
                .hasMessageContaining("schedules exists, but Keelson did not make it");
    }

    @Test
    void allTablesOfKeelsonAreKnownToTheCheck() throws SQLException {
        execute("create table elsewhere (id int)");
        Migrations.migrate(url);
        List<String> own = query("""
                select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
                   and relname not in ('elsewhere', 'flyway_schema_history', 'workspaces', 'api_keys', 'agents',
                    'board_tasks', 'agent_reports', 'workflow_recipes')""");

        assertThat(Neighbours.OWN_TABLES.split(" ")).containsExactlyInAnyOrderElementsOf(own);
    }

    private List<String> rows() throws SQLException {
        return query("""
                select concat_ws('|', 'agent', id, workspace_id, name, agent_type) from agents
                union all select concat_ws('|', 'task', id, title, status, priority, due_at, created_at) from board_tasks
                union all select concat_ws('|', 'report', id, title, file_path, created_at) from agent_reports
                union all select concat_ws('|', 'recipe', id, name, owner_id) from workflow_recipes
                union all select concat_ws('|', 'skill', id, name) from skills order by 1""");
    }

    private static List<String> columns(DatabaseUrl of) throws SQLException {
        return query(of, """
                select concat_ws(' ', table_name, column_name, udt_name, column_default) from information_schema.columns
                 where table_schema = 'public' and table_name in ('workspaces', 'agents', 'board_tasks', 'agent_reports',
                    'workflow_recipes')
                   and (table_name, column_name) not in (('agents', 'slug'))""");
    }

    private List<String> query(String sql) throws SQLException {
        return query(url, sql);
    }

    private static List<String> query(DatabaseUrl of, String sql) throws SQLException {
        try (Connection c = of.connect(); Statement statement = c.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (row.next()) {
                found.add(row.getString(1));
            }
            return found;
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection c = url.connect(); Statement statement = c.createStatement()) {
            statement.execute(sql);
        }
    }
}
