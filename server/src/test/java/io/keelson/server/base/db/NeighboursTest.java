package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A database that the platform made, and that Keelson has never been on (PRD-101, AC-29). */
class NeighboursTest {

    private final DatabaseUrl url = TestDatabase.createEmptyUrl();

    @Test
    void tablesOfThePlatformAreMigratedAndForeignTablesUntouched() throws SQLException {
        execute(Platform.TABLES);
        List<String> before = rows();

        assertThat(Migrations.pending(url)).isPositive();
        assertThat(Migrations.migrate(url)).isPositive();

        assertThat(rows()).isEqualTo(before).hasSize(6);
        assertThat(query("select count(distinct slug)::text from agents where slug like 'agent-%'"))
                .containsExactly("2");
        assertThat(query("select count(distinct recipe_id)::text from workflow_recipes")).containsExactly("1");
        execute("insert into agents (workspace_id, name) select id, 'Cid' from workspaces");
        execute("insert into agent_reports (id, workspace_id, report_type, title)"
                + " select gen_random_uuid(), id, 'audit', 't' from workspaces");
        assertThat(Migrations.migrate(url)).isZero();
    }

    @Test
    void theAdoptedTablesHaveTheColumnsOfAFreshDatabase() throws SQLException {
        execute(Platform.TABLES);
        execute("create table theirs as " + COLUMNS.formatted(""));
        Migrations.migrate(url);

        assertThat(query(COLUMNS.formatted(", column_default"))).containsAll(query(TestDatabase.createUrl(),
                COLUMNS.formatted(", column_default") + " and (table_name, column_name) not in ("
                        + String.join(", ", query("select format('(%L, %L)', place, name) from theirs")) + ")"));
        assertThat(query("select place || name from (" + COLUMNS.formatted("") + ") c"))
                .containsAll(
                        query(TestDatabase.createUrl(), "select place || name from (" + COLUMNS.formatted("") + ") c"));
    }

    @Test
    void aColumnThatKeelsonCannotFillIsRefusedAtEveryStart() throws SQLException {
        execute(Platform.TABLES);
        execute("alter table board_tasks add column tenant_code varchar(10) not null default 'x'");
        execute("alter table board_tasks alter column tenant_code drop default");
        execute("alter table agent_reports add column author text");
        execute("update agent_reports set author = 'a'");
        execute("alter table agent_reports alter column author set not null");

        assertThatThrownBy(() -> Migrations.migrate(url)).isInstanceOfSatisfying(DatabaseException.class,
                e -> assertThat(e.code()).isEqualTo(Code.DATABASE_NOT_ADOPTABLE))
                .hasMessageContaining("board_tasks.tenant_code is NOT NULL without a default")
                .hasMessageContaining("alter table agent_reports alter column author drop not null (or set default");
        assertThat(query("select to_regclass('flyway_schema_history')::text")).containsOnlyNulls();

        execute("alter table board_tasks alter column tenant_code set default 'x'");
        execute("alter table agent_reports alter column author set default 'keelson'");
        Migrations.migrate(url);
        execute("alter table agent_reports alter column author drop default");
        assertThatThrownBy(() -> Migrations.migrate(url)).hasMessageContaining("agent_reports.author");
        assertThatThrownBy(() -> Migrations.pending(url)).hasMessageContaining("agent_reports.author");
    }

    @Test
    @Breadth.InPart(0)
    void twoRecipesOfOneNameAreRefusedByName() throws SQLException {
        execute(Platform.TABLES);
        execute("insert into workflow_recipes (workspace_id, name) select id, 'daily' from workspaces");

        assertThatThrownBy(() -> Migrations.migrate(url)).hasMessageContaining(
                "workspace 00000000-0000-4000-8000-000000000001 has 2 rows with the name \"daily\" (ids 1, 2)");

        execute("update workflow_recipes set name = 'daily 2' where id = 2");
        assertThatCode(() -> Migrations.migrate(url)).doesNotThrowAnyException();
    }

    @Test
    @Breadth.InPart(1)
    void columnsOfAnotherTypeOrLengthAndTablesOfAnotherMakingAreRefused() throws SQLException {
        execute(Platform.TABLES);
        execute("alter table board_tasks alter column tags type json, alter column title type varchar(200)");
        execute("create table api_keys (id serial primary key, workspace_id uuid not null, name varchar(255) not null)");
        execute("create table schedules (id serial primary key)");

        assertThatThrownBy(() -> Migrations.migrate(url))
                .hasMessageContaining("alter table board_tasks alter column tags type jsonb using tags::jsonb")
                .hasMessageContaining("board_tasks.title is too short with 200 characters")
                .hasMessageContaining("api_keys has no column key_hash")
                .hasMessageContaining("schedules exists, but Keelson did not make it");
    }

    /** PRD-76 has it so: a default would name an agent that has not written the report. */
    @Test
    @Breadth.InPart(2)
    void aReferenceThatKeelsonCannotFillNeedNotHaveAValue() throws SQLException {
        execute(Platform.TABLES);
        execute("alter table agent_reports add column agent_id integer references agents (id)");
        execute("update agent_reports set agent_id = 1");
        execute("alter table agent_reports alter column agent_id set not null");
        execute("update board_tasks set source_id = ''");
        execute("alter table board_tasks alter column source_id set not null");

        assertRefused(List.of("alter table agent_reports alter column agent_id drop not null",
                "alter table board_tasks alter column source_id drop not null"));
        execute("insert into agent_reports (id, workspace_id, report_type, title)"
                + " select gen_random_uuid(), id, 'audit', 't' from workspaces");
    }

    @Test
    @Breadth.InPart(3)
    void columnsThatHoldAllThatKeelsonWritesAreLongEnough() throws SQLException {
        execute(Platform.TABLES);
        execute("""
                alter table board_tasks alter column status type varchar(11), alter column priority type varchar(6),
                    alter column source_type type varchar(18), alter column source_id type varchar(36),
                    add column review_mode varchar(6), add column created_by_type varchar(13);
                alter table agent_reports alter column report_type type varchar(8);
                alter table workflow_recipes add column owner_type varchar(9)""");

        assertThatCode(() -> Migrations.migrate(url)).doesNotThrowAnyException();
    }

    @Test
    void rulesThatRefuseWhatKeelsonWritesAreNamedAndOthersStay() throws SQLException {
        execute(Platform.TABLES);
        execute("""
                alter table board_tasks add constraint "Known sources" check (source_type in ('user', 'recipe')),
                    add column created_by_type varchar(30) default 'user' check (created_by_type in ('user', 'agent')),
                    add check (priority in ('low', 'medium', 'high', 'urgent')), add check (title <> ''),
                    add column completed_at timestamptz, add check ((status = 'done') = (completed_at is not null) or due_at is not null);
                alter table agent_reports add constraint ck_type check (report_type in ('standup', 'research'));
                alter table workflow_recipes add column tags jsonb not null default '[]',
                    add constraint ck_tags check (tags ? 'kept' or tags = '[]')""");

        assertRefused(List.of("alter table board_tasks drop constraint \"Known sources\"",
                "alter table board_tasks drop constraint board_tasks_created_by_type_check",
                "alter table agent_reports drop constraint ck_type"));
        assertThat(query("select conname from pg_constraint where conname in ('ck_tags', 'board_tasks_title_check')"))
                .hasSize(2);
    }

    /** What PRD-101 puts into a database, renamed by its operator: the names of indexes and sequences stay taken. */
    @Test
    @Breadth.InPart(4)
    void tablesOfPrd101AreSetAsideByTheStatementsThatTheRefusalNames() throws SQLException {
        execute(Platform.TABLES);
        execute(Platform.ORCHESTRATION);
        execute("alter table orchestration_task_dependencies rename to dependencies_old");
        List<String> before = rows();

        assertRefused(
                List.of("create schema if not exists set_aside; alter table orchestration_runs set schema set_aside",
                        "create schema if not exists set_aside; alter table orchestration_tasks set schema set_aside",
                        "create schema if not exists set_aside; alter table orchestration_events set schema set_aside",
                        "alter index ix_orch_deps_reverse rename to former_ix_orch_deps_reverse",
                        "alter table agent_reports drop constraint agent_reports_orchestration_task_id_fkey"));

        assertThat(rows()).isEqualTo(before);
        assertThat(indexes(url)).containsAll(indexes(TestDatabase.createUrl()));
        assertThat(query("""
                select pg_get_constraintdef(oid) from pg_constraint
                 where contype = 'f' and conname = 'agent_reports_orchestration_task_id_fkey'""")).singleElement()
                .asString().contains("REFERENCES orchestration_tasks(id) ON DELETE SET NULL");
        assertThat(query("select pg_get_serial_sequence('run_event_packs', 'id')"))
                .containsExactly("public.run_event_packs_id_seq");
        assertThat(query("select title from set_aside.orchestration_tasks")).containsExactly("theirs");
    }

    @Test
    @Breadth.InPart(5)
    void renamedTablesKeepTheNamesOfTheirIndexesAndSequences() throws SQLException {
        execute(Platform.TABLES);
        execute(Platform.ORCHESTRATION);
        execute("""
                alter table orchestration_runs rename to runs_old; alter table orchestration_tasks rename to tasks_old;
                alter table orchestration_events rename to events_old;
                alter table orchestration_task_dependencies rename to dependencies_old;
                alter sequence board_tasks_id_seq rename to tasks_seq""");

        assertRefused(List.of("alter index ix_orch_deps_reverse rename to former_ix_orch_deps_reverse",
                "alter index ix_orch_runs_active rename to former_ix_orch_runs_active",
                "alter index ix_orch_tasks_run rename to former_ix_orch_tasks_run",
                "alter table agent_reports drop constraint agent_reports_orchestration_task_id_fkey"));
        assertThat(indexes(url)).containsAll(indexes(TestDatabase.createUrl()));
    }

    @Test
    @Breadth.InPart(6)
    void aReferenceToATableOfOthersIsRefusedAtEveryStart() throws SQLException {
        execute(Platform.TABLES);
        Migrations.migrate(url);
        execute("create table people (id varchar(255) primary key)");
        execute("alter table board_tasks add constraint made_by foreign key (created_by_id) references people");

        assertRefused(List.of("alter table board_tasks drop constraint made_by"));
    }

    @Test
    @Breadth.InPart(5)
    void beforeTriggersAndRewriteRulesAreRefusedAtEveryStart() throws SQLException {
        execute(Platform.TABLES);
        execute("""
                create function theirs() returns trigger language plpgsql as 'begin return null; end';
                create trigger skip before insert on board_tasks for each row execute function theirs();
                create trigger reminder before update of due_at on board_tasks for each row execute function theirs();
                create trigger off before insert on board_tasks for each row execute function theirs();
                alter table board_tasks disable trigger off;
                create rule "Keep all" as on delete to agents do instead nothing""");

        assertRefused(List.of("alter table board_tasks disable trigger skip",
                "alter table agents disable rule \"Keep all\""));

        execute("alter table board_tasks enable trigger skip");
        assertRefused(List.of("alter table board_tasks disable trigger skip"));
    }

    /** Policies that permit are added to each other: Keelson's would let everybody see what theirs hides. */
    @Test
    @Breadth.InPart(4)
    void policiesOfOthersAreRefusedAtEveryStart() throws SQLException {
        execute(Platform.TABLES);
        execute("""
                alter table board_tasks enable row level security;
                create policy workspace on board_tasks using (workspace_id::text = current_setting('app.workspace'))""");

        assertRefused(List.of("drop policy workspace on board_tasks"));

        execute("create policy \"Their own\" on agents using (false)");
        assertRefused(List.of("drop policy \"Their own\" on agents"));
    }

    @Test
    @Breadth.InPart(6)
    void afterTriggersStayAndAreReported() throws SQLException {
        execute(Platform.TABLES);
        execute("""
                create function theirs() returns trigger language plpgsql as 'begin return null; end';
                create trigger audit after insert or update on board_tasks for each row execute function theirs()""");
        Migrations.migrate(url);

        assertThat(Neighbours.warnings(url)).containsExactly("board_tasks has the AFTER trigger audit,"
                + " which runs in transactions of Keelson: they fail when it fails");
        assertThat(Neighbours.warnings(TestDatabase.createUrl())).isEmpty();
    }

    @Test
    void indexesWithTheNameAndAnotherDefinitionAreRefused() throws SQLException {
        execute(Platform.TABLES);
        execute("""
                create index ix_board_tasks_column on board_tasks (workspace_id, status);
                create index uq_board_tasks_orchestration_run on board_tasks (source_id) where source_type = 'orchestration';
                create index ix_agent_reports_ws on board_tasks (workspace_id, created_at, id);
                create index ix_timers_due on board_tasks (due_at);
                alter table board_tasks alter column source_type type text;
                create unique index uq_board_tasks_orchestration_task on board_tasks (source_id)
                    where source_type = 'orchestration_task'""");

        assertRefused(List.of("alter index ix_board_tasks_column rename to former_ix_board_tasks_column",
                "alter index uq_board_tasks_orchestration_run rename to former_uq_board_tasks_orchestration_run",
                "alter index ix_agent_reports_ws rename to former_ix_agent_reports_ws",
                "alter index ix_timers_due rename to former_ix_timers_due"));

        assertThat(query("""
                select indexname from pg_indexes where indexname in ('ix_board_tasks_column', 'ix_agent_reports_ws',
                    'ix_timers_due', 'uq_board_tasks_orchestration_run', 'uq_board_tasks_orchestration_task')"""))
                .hasSize(5);
    }

    /** Without the schema history, every shared index of a fresh database is compared. */
    @Test
    void indexesOfKeelsonPassTheCheck() throws SQLException {
        Migrations.migrate(url);
        execute("drop table flyway_schema_history");

        try (Connection c = url.connect()) {
            assertThat(NeighbourNames.problems(c)).isNotEmpty().noneMatch(each -> each.startsWith("The index"));
        }
    }

    @Test
    void checkCoversAllTables() throws SQLException {
        execute("create table elsewhere (id int)");
        Migrations.migrate(url);
        List<String> own = query("""
                select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
                   and relname not in ('elsewhere', 'flyway_schema_history', 'workspaces', 'api_keys', 'agents',
                    'board_tasks', 'agent_reports', 'workflow_recipes')""");

        assertThat(NeighbourNames.OWN_TABLES.split(" ")).containsExactlyInAnyOrderElementsOf(own);
        assertThat(NeighbourNames.OWN_VIEWS.split(" ")).containsExactlyInAnyOrderElementsOf(query("""
                select relname from pg_class where relkind = 'v' and relnamespace = 'public'::regnamespace"""));
    }

    @Test
    void checkCoversAllIndexes() throws SQLException, IOException {
        Set<String> own = new TreeSet<>(query(TestDatabase.createUrl(), """
                select relname from pg_class where relkind in ('i', 'I') and relnamespace = 'public'::regnamespace
                   and relname !~ '_(pkey|key)$' and relname not like 'flyway%'"""));
        own.add("ux_agents_slug");
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/db/schema"))) {
            for (Path file : files.toList()) {
                Matcher named = Pattern
                        .compile("(?:create (?:unique )?|drop )index (?:concurrently )?(?:if (?:not )?exists )?(\\w+)")
                        .matcher(Files.readString(file));
                named.results().map(each -> each.group(1)).forEach(own::add);
            }
        }

        assertThat(NeighbourNames.OWN_INDEXES.split(" ")).containsExactlyInAnyOrderElementsOf(own);
    }

    /** The statements do it, in the order in which they are named, and nothing else is needed. */
    private void assertRefused(List<String> statements) throws SQLException {
        assertThatThrownBy(() -> Migrations.pending(url)).isInstanceOfSatisfying(DatabaseException.class,
                e -> assertThat(e.code()).isEqualTo(Code.DATABASE_NOT_ADOPTABLE));
        DatabaseException refused = catchThrowableOfType(DatabaseException.class, () -> Migrations.migrate(url));
        List<String> advice = Pattern.compile("^  - .*?: ((?:alter|create|drop) .*)$", Pattern.MULTILINE)
                .matcher(refused.getMessage()).results().map(each -> each.group(1)).toList();
        assertThat(advice).containsAll(statements)
                .hasSize(refused.getMessage().split("\n  - ").length - 1);
        for (String statement : advice) {
            execute(statement.replaceFirst(" \\(or .*", ""));
        }
        Migrations.migrate(url);
        assertThat(Migrations.pending(url)).isZero();
    }

    private static List<String> indexes(DatabaseUrl of) throws SQLException {
        return query(of, """
                select concat_ws(' ', tablename, indexname, replace(indexdef, 'id_key1', 'id_key')) from pg_indexes
                 where schemaname = 'public' and indexname ~ '^(ix|uq)_'""");
    }

    private List<String> rows() throws SQLException {
        return query("""
                select concat_ws('|', 'agent', id, workspace_id, name, agent_type) from agents
                union all select concat_ws('|', 'task', id, title, status, priority, due_at, created_at) from board_tasks
                union all select concat_ws('|', 'report', id, title, file_path, created_at) from agent_reports
                union all select concat_ws('|', 'recipe', id, name, owner_id) from workflow_recipes
                union all select concat_ws('|', 'skill', id, name) from skills order by 1""");
    }

    private static final String COLUMNS = """
            select concat_ws(' ', table_name, column_name, udt_name%s), table_name::text as place, column_name::text as name
              from information_schema.columns
             where table_schema = 'public' and table_name in ('workspaces', 'agents', 'board_tasks', 'agent_reports',
                'workflow_recipes')
               and (table_name, column_name) not in (('agents', 'slug'))""";

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
