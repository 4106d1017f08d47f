package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PRD-101's tables as it defines them (acceptance criteria AC-1 to AC-6, AC-8 to AC-10 and AC-28). */
class PrescribedTablesTest {
    private static final Path SCHEMA = Path.of("src/main/resources/db/schema");
    private static final Path RELEASED = Path.of("../config/schema.sha256");

    private static Database database;

    @BeforeAll
    static void open() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            id                   | uuid                     | not null | gen_random_uuid()
            workspace_id         | uuid                     | not null |
            title                | character varying(500)   | not null |
            description          | text                     | null     |
            goal                 | text                     | not null |
            state                | character varying(30)    | not null | 'pending'::character varying
            state_type           | character varying(10)    | not null | 'pending'::character varying
            plan                 | jsonb                    | null     |
            config               | jsonb                    | not null | '{}'::jsonb
            result_summary       | text                     | null     |
            error_message        | text                     | null     |
            created_by           | character varying(255)   | not null |
            coordinator_agent_id | integer                  | null     |
            total_tokens         | integer                  | not null | 0
            total_cost           | numeric(26,12)           | not null | 0
            task_count           | integer                  | not null | 0
            tasks_completed      | integer                  | not null | 0
            tasks_failed         | integer                  | not null | 0
            started_at           | timestamp with time zone | null     |
            completed_at         | timestamp with time zone | null     |
            duration_ms          | bigint                   | null     |
            version_id           | integer                  | not null | 1
            created_at           | timestamp with time zone | not null | now()
            updated_at           | timestamp with time zone | not null | now()
            """)
    void ac01ColumnsOfRuns(String name, String type, String nullability, String fallback) {
        assertColumn("orchestration_runs", name, type, nullability, fallback);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            id                 | uuid                     | not null | gen_random_uuid()
            run_id             | uuid                     | not null |
            workspace_id       | uuid                     | not null |
            sequence_number    | smallint                 | not null |
            title              | character varying(500)   | not null |
            description        | text                     | null     |
            task_type          | character varying(30)    | not null |
            state              | character varying(30)    | not null | 'pending'::character varying
            state_type         | character varying(10)    | not null | 'pending'::character varying
            trigger_rule       | character varying(30)    | not null | 'all_success'::character varying
            agent_id           | integer                  | null     |
            agent_type         | character varying(20)    | null     |
            model_override     | character varying(255)   | null     |
            tools_requested    | jsonb                    | null     |
            success_criteria   | text                     | null     |
            output_summary     | character varying(2000)  | null     |
            output_ref         | character varying(500)   | null     |
            verifier_score     | numeric(3,2)             | null     |
            verified_by        | character varying(255)   | null     |
            error_message      | text                     | null     |
            attempt_number     | smallint                 | not null | 1
            continuation_count | smallint                 | not null | 0
            tokens_used        | integer                  | not null | 0
            cost               | numeric(26,12)           | not null | 0
            board_task_id      | bigint                   | null     |
            started_at         | timestamp with time zone | null     |
            completed_at       | timestamp with time zone | null     |
            duration_ms        | bigint                   | null     |
            version_id         | integer                  | not null | 1
            created_at         | timestamp with time zone | not null | now()
            updated_at         | timestamp with time zone | not null | now()
            """)
    void ac02ColumnsOfTasks(String name, String type, String nullability, String fallback) {
        assertColumn("orchestration_tasks", name, type, nullability, fallback);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            orchestration_task_dependencies | task_id         | uuid                     | not null |
            orchestration_task_dependencies | depends_on_id   | uuid                     | not null |
            orchestration_task_dependencies | dependency_type | character varying(20)    | not null | 'data'::character varying
            orchestration_task_dependencies | created_at      | timestamp with time zone | not null | now()
            orchestration_events            | id              | bigint                   | null     |
            orchestration_events            | run_id          | uuid                     | null     |
            orchestration_events            | task_id         | uuid                     | null     |
            orchestration_events            | event_type      | character varying(50)    | null     |
            orchestration_events            | payload         | jsonb                    | null     |
            orchestration_events            | actor_type      | character varying(20)    | null     |
            orchestration_events            | actor_id        | character varying(255)   | null     |
            orchestration_events            | created_at      | timestamp with time zone | null     |
            orchestration_events            | xid             | xid8                     | null     |
            run_event_packs                 | id              | bigint                   | not null | nextval('run_event_packs_id_seq'::regclass)
            run_event_packs                 | run_id          | uuid                     | not null |
            run_event_packs                 | actor_type      | character varying(20)    | not null | 'system'::character varying
            run_event_packs                 | actor_id        | character varying(255)   | null     |
            run_event_packs                 | created_at      | timestamp with time zone | not null | now()
            run_event_packs                 | xid             | xid8                     | not null | pg_current_xact_id()
            agent_reports                   | orchestration_task_id | uuid               | null     |
            """)
    void ac03AndAc04AndAc09FurtherColumns(String table, String name, String type, String nullability, String fallback) {
        assertColumn(table, name, type, nullability, fallback);
    }

    /** As the events, columns that are ours included, and without foreign keys. */
    @Test
    void ac05TheArchiveHasTheEventsColumnsAndRefersToNothing() {
        String columns = """
                select a.attname || ' ' || format_type(a.atttypid, a.atttypmod) from pg_attribute a
                 where a.attrelid = ?::regclass and a.attnum > 0 order by 1""";
        assertThat(query(columns, "orchestration_events_archive")).isEqualTo(query(columns, "orchestration_events"));
        assertThat(foreignKeys("orchestration_events_archive")).isEmpty();
    }

    /** But for the events: they refer to nothing, for each reference was a query per event (docs/adr/0011). */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            orchestration_runs              | FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
            orchestration_runs              | FOREIGN KEY (coordinator_agent_id) REFERENCES agents(id) ON DELETE SET NULL
            orchestration_tasks             | FOREIGN KEY (run_id) REFERENCES orchestration_runs(id) ON DELETE CASCADE
            orchestration_tasks             | FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
            orchestration_tasks             | FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE SET NULL
            orchestration_tasks             | FOREIGN KEY (board_task_id) REFERENCES board_tasks(id) ON DELETE SET NULL
            orchestration_task_dependencies | FOREIGN KEY (task_id) REFERENCES orchestration_tasks(id) ON DELETE CASCADE
            orchestration_task_dependencies | FOREIGN KEY (depends_on_id) REFERENCES orchestration_tasks(id) ON DELETE CASCADE
            agent_reports                   | FOREIGN KEY (orchestration_task_id) REFERENCES orchestration_tasks(id) ON DELETE SET NULL
            """)
    void ac06ForeignKey(String table, String definition) {
        assertThat(foreignKeys(table)).contains(definition);
    }

    @Test
    void everyTableHasAComment() {
        assertThat(query("""
                select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')
                   and relname <> 'flyway_schema_history' and obj_description(oid, 'pg_class') is null""")).isEmpty();
    }

    /** A foreign key costs a query per row: rows written or locked by the same transaction have none (docs/adr/0011). */
    @Test
    void runsRowsHaveFewForeignKeys() {
        assertThat(foreignKeys("run_agents")).isEmpty();
        assertThat(foreignKeys("run_attempts")).isEmpty();
        assertThat(foreignKeys("board_tasks")).containsExactly(
                "FOREIGN KEY (assigned_agent_id) REFERENCES agents(id) ON DELETE SET NULL");
        assertThat(foreignKeys("agent_reports")).containsExactly(
                "FOREIGN KEY (orchestration_task_id) REFERENCES orchestration_tasks(id) ON DELETE SET NULL");
    }

    /**
     * Three of them are longer than PRD-101 asks, as the migrations say. Three are left out: without
     * ix_orch_events_task and ix_orch_events_type an event costs 4.9 instead of 6.9 µs, and with ix_orch_tasks_ws_state
     * no change of a task is heap-only (docs/adr/0011).
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            ix_orch_runs_ws_created           | orchestration_runs USING btree (workspace_id, created_at DESC)
            ix_orch_runs_active               | orchestration_runs USING btree (workspace_id, id) WHERE ((state_type)::text <> 'terminal'::text)
            ix_orch_runs_created_by           | orchestration_runs USING btree (created_by)
            ix_orch_tasks_run                 | orchestration_tasks USING btree (run_id, attempt, key)
            ix_orch_tasks_agent               | orchestration_tasks USING btree (agent_id, task_type, id) WHERE (agent_id IS NOT NULL)
            ix_orch_tasks_board               | orchestration_tasks USING btree (board_task_id) WHERE (board_task_id IS NOT NULL)
            orchestration_task_dependencies_pkey | orchestration_task_dependencies USING btree (task_id, depends_on_id)
            ix_orch_deps_reverse              | orchestration_task_dependencies USING btree (depends_on_id)
            ix_orch_events_run                | run_event_packs USING btree (run_id, first_seq)
            ix_orch_events_created            | run_event_packs USING brin (created_at)
            uq_board_tasks_orchestration_run  | board_tasks USING btree (source_id) WHERE ((source_type)::text = 'orchestration'::text)
            uq_board_tasks_orchestration_task | board_tasks USING btree (source_id) WHERE ((source_type)::text = 'orchestration_task'::text)
            ix_agent_reports_orch_task        | agent_reports USING btree (orchestration_task_id) WHERE (orchestration_task_id IS NOT NULL)
            """)
    void ac08AndAc10Index(String name, String definition) {
        assertThat(query("select indexdef from pg_indexes where indexname = ?", name))
                .singleElement().asString().endsWith("public." + definition);
    }

    /** HOT updates end where an index mentions a column that changes. */
    @ParameterizedTest
    @ValueSource(strings = {"task_steps", "orchestration_tasks", "run_agents"})
    void noIndexMentionsWhatChanges(String table) {
        assertThat(query("select substring(indexdef from 'btree.*') from pg_indexes where tablename = ?", table))
                .allSatisfy(definition -> assertThat(definition).isNotEmpty()
                        .doesNotContain("state", "_number", "epoch", "_at"));
    }

    @Test
    void anEmptyDatabaseIsBroughtUpAndASecondTimeLeftAlone() {
        DatabaseUrl empty = TestDatabase.createEmptyUrl();
        assertThat(Migrations.migrate(empty)).isPositive();
        assertThat(Migrations.migrate(empty)).isZero();
    }

    @Test
    void ac03ADependencyIsAPairOfTwoTasks() {
        assertThat(query("""
                select pg_get_constraintdef(oid) from pg_constraint
                 where conrelid = 'orchestration_task_dependencies'::regclass and contype in ('p', 'c')"""))
                .contains("PRIMARY KEY (task_id, depends_on_id)", "CHECK ((task_id <> depends_on_id))");
    }

    @Test
    void ac04EventsHaveTheirNumberAsKey() {
        assertThat(query("""
                select pg_get_constraintdef(oid) from pg_constraint
                 where conrelid = 'run_event_packs'::regclass and contype = 'p'""")).containsExactly(
                "PRIMARY KEY (id)");
    }

    /** A set statement sends its rows in the very form of the row type that the migrations make. */
    @ParameterizedTest
    @MethodSource("rowTypes")
    void rowType(RowType type) {
        assertThat(query("""
                select a.attname || ' ' || regexp_replace(t.typname, '^_(.*)', '\\1[]')
                  from pg_type row join pg_attribute a on a.attrelid = row.typrelid join pg_type t on t.oid = a.atttypid
                 where row.typname = ? order by a.attnum""", type.name))
                .isEqualTo(type.columns.stream().map(c -> c.name() + " " + c.sqlType()).toList());
    }

    /**
     * The definitions of the row types, which {@code -Dupdate.docs=true} writes into files that no release has. Servers of a release
     * use its types beside a newer one: a statement with other columns needs a type of another name.
     */
    @ParameterizedTest
    @MethodSource("rowTypes")
    void definitionOfTheRowType(RowType type) throws IOException {
        Pattern definition = Pattern.compile("create type " + type.name + " as \\(([^;]*)\\);");
        List<Path> files;
        try (Stream<Path> all = Files.list(SCHEMA)) {
            files = all.filter(file -> definition.matcher(read(file)).find()).toList();
        }
        assertThat(files).as("create type " + type.name).hasSize(1);
        Path file = files.getFirst();
        String text = read(file);
        Matcher found = definition.matcher(text);
        found.find();
        String attributes = type.columns.stream().map(c -> c.name() + " " + c.sqlType())
                .collect(Collectors.joining(", ")).replace("position ", "\"position\" ");
        String written = found.group(1).replaceAll("\\s+", " ");
        boolean released = Files.exists(RELEASED) && read(RELEASED).contains("  " + file.getFileName() + "\n");
        if (Boolean.getBoolean("update.docs") && !released && !written.equals(attributes)) {
            Files.writeString(file, text.substring(0, found.start(1))
                    + attributes.replaceAll("(.{1,90}),( |$)", "$1,\n    ") + text.substring(found.end(1)));
        } else {
            assertThat(written).as(released
                    ? file + " is of a release: name another type in the statement, and create it in a new file"
                    : "run this test with -Dupdate.docs=true").isEqualTo(attributes);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A row type of the schema, and the columns that Java sends as its attributes. */
    record RowType(String name, List<? extends Column<?>> columns) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<RowType> rowTypes() {
        return statements().flatMap(statement -> Stream.concat(
                Stream.of(new RowType(statement.rowType(), statement.columns())),
                statement.columns().stream().map(Column::rows).filter(Objects::nonNull)
                        .map(rows -> new RowType(rows.rowType(), rows.columns()))));
    }

    private static Stream<RowSetStatement<?>> statements() {
        return Stream.of(RunsTable.class, TasksTable.class, StepsTable.class, AgentsTable.class, AttemptsTable.class,
                DependenciesTable.class, EventPacksTable.class, ResultsTable.class, QueueTable.class, TimersTable.class,
                ArtifactsTable.class, TicketsTable.class, Leases.class, LeaseHeartbeats.class, BoardTable.class,
                ReportsTable.class, RoundsTable.class, LedgerTable.class)
                .flatMap(PrescribedTablesTest::statementsOf);
    }

    private static Stream<RowSetStatement<?>> statementsOf(Class<?> table) {
        return Stream.of(table.getDeclaredFields()).filter(f -> f.getType() == RowSetStatement.class).map(field -> {
            try {
                field.setAccessible(true);
                return (RowSetStatement<?>) field.get(null);
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static void assertColumn(String table, String name, String type, String nullability, String fallback) {
        assertThat(query("""
                select format_type(a.atttypid, a.atttypmod) || '|' || case when a.attnotnull then 'not null' else 'null' end
                    || '|' || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
                  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
                 where a.attrelid = ?::regclass and a.attname = ?""", table, name))
                .containsExactly(type + "|" + nullability + "|" + (fallback == null ? "" : fallback));
    }

    private static List<String> foreignKeys(String table) {
        return query("""
                select pg_get_constraintdef(oid) from pg_constraint
                 where conrelid = ?::regclass and contype = 'f'""", table);
    }

    private static List<String> query(String sql, Object... parameters) {
        return database.withConnection(c -> RunFixtures.query(c, sql, parameters));
    }
}
