package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tables of the platform stay as they are and in use while Keelson adds to them (PRD-101, AC-32). */
@Timeout(120)
@Breadth.Spread
class AdoptionTest {

    private static final String SHARED = "'workspaces', 'agents', 'board_tasks', 'agent_reports', 'workflow_recipes'";

    /** Rewrites of tables, and statements on shared tables with what they are about. */
    private static final String WATCH = """
            create schema watch;
            create table watch.rewrites (name text);
            create table watch.statements (tag text, subject text, query text);
            create function watch.rewrite() returns event_trigger language plpgsql as $$
            begin
                insert into watch.rewrites values (pg_event_trigger_table_rewrite_oid()::regclass::text);
            end $$;
            create function watch.statement() returns event_trigger language plpgsql as $$
            begin
                insert into watch.statements
                select c.command_tag, c.object_identity, current_query() from pg_event_trigger_ddl_commands() c;
            end $$;
            create event trigger watch_rewrite on table_rewrite execute function watch.rewrite();
            create event trigger watch_statement on ddl_command_end execute function watch.statement()""";

    private final DatabaseUrl url = TestDatabase.createEmptyUrl();

    @BeforeEach
    void platform() throws SQLException {
        execute(Platform.TABLES);
        execute("create table before as " + COLUMNS);
    }

    private static final String COLUMNS = """
            select c.relname::text as place, a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type,
                a.attnotnull as required, pg_get_expr(d.adbin, d.adrelid) as standard
              from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
              left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
             where c.relnamespace = 'public'::regnamespace and c.relname in (""" + SHARED + ")";

    @Test
    void columnsReferencesAndRowsThatExistStay() throws SQLException {
        execute("create table references_before as select conrelid, conname::text, pg_get_constraintdef(oid) as text"
                + " from pg_constraint where contype = 'f'");
        List<String> rows = rows();

        Migrations.migrate(url);

        assertThat(query("select (b.*)::text from before b except select (c.*)::text from (" + COLUMNS + ") c"))
                .as("columns that changed").isEmpty();
        assertThat(query("""
                select (b.*)::text from references_before b except
                select (c.conrelid, c.conname::text, pg_get_constraintdef(c.oid))::text from pg_constraint c"""))
                .as("references that changed").isEmpty();
        assertThat(rows()).isEqualTo(rows).hasSize(6);
    }

    @Test
    void noTableIsRewrittenAndIndexesAreBuiltConcurrently() throws SQLException {
        execute(WATCH);

        Migrations.migrate(url);

        assertThat(query("select name from watch.rewrites")).as("rewritten").isEmpty();
        List<String> indexes = query("""
                select query from watch.statements s join pg_index i on i.indexrelid = to_regclass(s.subject)
                 where s.tag = 'CREATE INDEX' and i.indrelid::regclass::text in (""" + SHARED + ")");
        assertThat(indexes).hasSizeGreaterThan(10).allMatch(each -> each.contains("concurrently"));
    }

    /** What an operator reads before the first start is all that it does to tables of others. */
    @Test
    void everyStatementOnAnExistingTableIsAnnouncedWithItsLock() throws SQLException {
        List<Adoption.Change> announced = Adoption.changes(url);
        assertThat(announced).extracting(Adoption.Change::lock).containsOnly("ACCESS EXCLUSIVE",
                "SHARE ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "ROW EXCLUSIVE");
        assertThat(announced).allMatch(each -> !each.reason().isBlank());
        execute(WATCH);

        Migrations.migrate(url);

        for (String index : query("""
                select i.indexrelid::regclass::text from pg_index i
                 where i.indrelid::regclass::text in (""" + SHARED + """
                ) and i.indexrelid::regclass::text ~ '^(ix|uq|ux)_'""")) {
            assertThat(announced).as(index).anyMatch(each -> each.lock().equals("SHARE UPDATE EXCLUSIVE")
                    && each.statement()
                            .matches("create (unique )?index concurrently if not exists " + index + " on .*"));
        }
        for (String column : query("select place || ' ' || name from (" + COLUMNS + ") c"
                + " except select place || ' ' || name from before")) {
            String[] added = column.split(" ");
            assertThat(announced).as(column).anyMatch(each -> each.table().equals(added[0])
                    && each.statement().matches(".*add column (if not exists )?" + added[1] + " .*"));
        }
        for (String statement : query("""
                select distinct tag || ' ' || subject from watch.statements
                 where subject ~ '(^| on )public[.](workspaces|agents|board_tasks|agent_reports|workflow_recipes)$'
                   and tag <> 'COMMENT'""")) {
            String table = statement.replaceAll(".*public\\.", "");
            String kind = statement.replaceAll(" public.*| on public.*", "").toLowerCase(java.util.Locale.ROOT);
            assertThat(announced).as(statement)
                    .anyMatch(each -> each.table().equals(table) && (kind.startsWith("create table")
                            ? each.statement().startsWith("create table")
                            : each.statement().contains(kind)));
        }
        assertThat(Adoption.changes(url)).as("left after the migration").isEmpty();
    }

    @Test
    void aDatabaseOfKeelsonsOwnHasNothingToAdopt() throws SQLException {
        assertThat(Adoption.changes(TestDatabase.createEmptyUrl())).isEmpty();
        assertThat(Adoption.changes(TestDatabase.createUrl())).isEmpty();
    }

    @Test
    void anIntegerIdOfTheBoardIsReportedWhenHalfOfItIsUsed() throws SQLException {
        Migrations.migrate(url);
        assertThat(Neighbours.warnings(url)).isEmpty();
        query("select setval('board_tasks_id_seq', 1073741824)");
        assertThat(Neighbours.warnings(url)).singleElement().asString()
                .contains("board_tasks.id is an INTEGER and 1,073,741,824 of 2,147,483,647 numbers are used");
    }

    @Test
    void anIndexWhoseBuildWasInterruptedIsBuiltAgain() throws Exception {
        Migrations.migrate(url);
        execute("drop index uq_agent_reports_subject");
        try (Connection writer = url.connect(); Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("update agent_reports set title = title");
            CompletableFuture<Integer> start = CompletableFuture.supplyAsync(() -> Migrations.migrate(url));
            Awaitility.await().atMost(java.time.Duration.ofMinutes(1)).until(() -> !query("""
                    select pid::text from pg_stat_progress_create_index
                     where datname = current_database() and phase like 'waiting for%'""").isEmpty());
            query("select pg_cancel_backend(pid)::text from pg_stat_progress_create_index"
                    + " where datname = current_database()");
            assertThatThrownBy(start::join).hasMessageContaining("canceling statement");
            writer.commit();
        }
        assertThat(query(INVALID)).as("left by the interrupted build").hasSize(1);

        Migrations.migrate(url);

        assertThat(query(INVALID)).isEmpty();
        assertThat(query("select indexrelid::regclass::text from pg_index where indrelid = 'agent_reports'::regclass"))
                .contains("uq_agent_reports_subject", "ix_agent_reports_ws", "ix_agent_reports_orch_task");
    }

    private static final String INVALID = "select indexrelid::regclass::text from pg_index where not indisvalid";

    /** A statement that waits for a strong lock holds up all that come after it. */
    @Test
    void programsOfThePlatformDoNotWaitWhileKeelsonWaitsForALock() throws Exception {
        try (Connection reader = url.connect(); Statement open = reader.createStatement()) {
            reader.setAutoCommit(false);
            open.execute("lock table board_tasks in access share mode");
            CompletableFuture<Integer> start = CompletableFuture.supplyAsync(() -> Migrations.migrate(url));
            Awaitility.await().atMost(java.time.Duration.ofMinutes(1)).until(() -> !query("""
                    select pid::text from pg_locks where relation = 'board_tasks'::regclass and not granted""")
                    .isEmpty());
            execute("set statement_timeout = '20s'; select count(*) from board_tasks");
            assertThat(start).isNotDone();
            reader.commit();
            assertThat(start.join()).isPositive();
        }
    }

    /** Columns that were there before. */
    private List<String> rows() throws SQLException {
        List<String> rows = new ArrayList<>();
        for (String table : query("select distinct place from before order by 1")) {
            String columns = String.join(", ",
                    query("select name from before where place = '" + table + "' order by name"));
            rows.addAll(query("select '" + table + "' || (" + table + ".*)::text from (select " + columns + " from "
                    + table + " order by id) " + table));
        }
        return rows;
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

    private void execute(String sql) throws SQLException {
        try (Connection c = url.connect(); Statement statement = c.createStatement()) {
            statement.execute(sql);
        }
    }
}
