package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseProbe;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A connection for a workspace sees its rows only, even without a filter in the statement. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RowSecurityTest {

    /** The database role that owns the installation. */
    enum User {
        SUPERUSER, PLAIN_OWNER
    }

    /** Of the installation, not of a workspace. */
    private static final Set<String> NOBODYS =
            Set.of("engine_nodes", "engine_outages", "database_losses", "event_watermark", "flyway_schema_history",
                    "installation_backups",
                    "prices",
                    "trigger_feed", "webhook_feed");
    /** Nothing writes them yet, or not here. */
    private static final Set<String> UNUSED =
            Set.of("agents", "approval_rules", "approval_votes", "archive_objects", "archived_files", "archived_runs",
                    "call_waits",
                    "credit_months",
                    "event_exports", "federated_identities",
                    "federated_sessions", "gateway_requests", "gateway_tokens",
                    "live_texts",
                    "archive_deletions", "mcp_servers", "mcp_tools", "restored_runs", "result_cache", "result_waits",
                    "run_event_packs_archive", "run_tool_versions", "run_undos", "saved_views", "session_links",
                    "sessions",
                    "sign_in_states",
                    "upload_slots",
                    "status_document_progress", "task_rounds", "tool_versions", "trigger_replays", "work_messages",
                    "work_rates");

    private final Map<User, Installation> installations = new EnumMap<>(User.class);

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        installations.put(User.SUPERUSER, new Installation(folder.resolve("super"), TestDatabase.createUrl()));
        installations.put(User.PLAIN_OWNER,
                new Installation(folder.resolve("plain"), TestDatabase.createUrlOfPlainOwner()));
    }

    @AfterAll
    void close() {
        installations.values().forEach(Installation::close);
    }

    /** A new table needs a policy: {@code select keelson_enable_rls(…)}. */
    @ParameterizedTest
    @EnumSource
    void everyTableHasAPolicy(User user) {
        Installation at = installations.get(user);
        assertThat(at.one("""
                select relname from pg_class c
                 where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
                   and not (relrowsecurity and relforcerowsecurity
                            and exists (select from pg_policy where polrelid = c.oid))"""))
                .containsExactlyInAnyOrderElementsOf(NOBODYS);
        assertThat(at.database.rlsEnforced()).isTrue();
    }

    /** {@code null is not false}: a row without a workspace would be everybody's. */
    @ParameterizedTest
    @EnumSource
    void theShortConditionIsOfColumnsThatAreNeverNull(User user) {
        assertThat(installations.get(user).one("""
                select p.polrelid::regclass from pg_policy p
                  left join pg_attribute a on a.attrelid = p.polrelid and a.attname = 'workspace_id'
                 where pg_get_expr(p.polqual, p.polrelid) ilike '%is not false%' and a.attnotnull is not true"""))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void aForgottenWhereYieldsNoForeignRow(User user) {
        Installation at = installations.get(user);
        for (String table : at.one("select relname from pg_class where relrowsecurity")) {
            String rows = "select t::text from " + table + " t";
            List<String> all = at.one(rows);
            List<String> ours = at.within(at.ours, rows);
            List<String> theirs = at.within(at.theirs, rows);
            assertThat(ours.isEmpty() || theirs.isEmpty()).as(table).isEqualTo(UNUSED.contains(table));
            assertThat(ours).as(table).doesNotContainAnyElementsOf(theirs.isEmpty() ? List.of("") : theirs);
            List<String> both = new ArrayList<>(ours);
            both.addAll(theirs);
            assertThat(both).as(table).containsExactlyInAnyOrderElementsOf(all);
            assertThat(at.within(UUID.randomUUID(), rows)).as(table).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void writesStayInTheWorkspace(User user) {
        Installation at = installations.get(user);
        assertThat(at.within(at.ours, "update secrets set version = version returning workspace_id::text"))
                .containsExactly(at.ours.toString());
        assertThat(at.within(at.ours, "delete from secrets where workspace_id = '" + at.theirs + "' returning 1"))
                .isEmpty();
        assertThatThrownBy(() -> at.within(at.ours, "insert into workspace_limits values ('" + at.theirs
                + "', 'steps', 1) returning 1")).isInstanceOfSatisfying(SqlFailure.class,
                        refused -> assertThat(refused.sqlState()).isEqualTo("42501"));
    }

    /** What a thread has seen for one workspace does not stay with the connection. */
    @ParameterizedTest
    @EnumSource
    void aConnectionServesOneWorkspaceAfterTheOther(User user) {
        Installation at = installations.get(user);
        for (UUID each : List.of(at.ours, at.theirs, at.theirs, at.ours)) {
            assertThat(at.within(each, "select id::text from workspaces")).containsExactly(each.toString());
            assertThatThrownBy(() -> Tenancy.within(each, () -> at.database.<String>inTransaction(c -> {
                throw new SQLException("rolled back");
            }))).isInstanceOf(SqlFailure.class);
        }
    }

    /** With policies that allow no row, no request finds one. The engine does. */
    @ParameterizedTest
    @EnumSource
    void requestsAreBehindRowSecurity(User user) throws Exception {
        Installation at = installations.get(user);
        List<String> tables = at.one("select relname from pg_class where relrowsecurity and relname <> 'workspaces'");
        alter(at, tables, "keelson_workspace() is null");
        try {
            assertThat(at.api.get("/api/v1/runs/" + at.run).status()).isEqualTo(404);
            for (String list : List.of("/runs", "/escalations", "/workers", "/secrets", "/api-keys", "/ledger")) {
                assertThat(at.api.get("/api/v1" + list).json().get("items").size()).as(list).isZero();
            }
            assertThat(at.api.post("/api/v1/runs/" + at.run + "/cancel", "{}").status()).isEqualTo(404);
            assertThat(at.api.get("/api/v1/ledger?format=csv").text().lines()).hasSizeLessThanOrEqualTo(1);
            assertThat(at.api.get("/api/v1/workspaces").json().get("items").size()).isEqualTo(2);
        } finally {
            alter(at, tables, "true");
        }
    }

    /** A user who bypasses policies and may not create the role has none until an administrator creates it. */
    @Test
    void readingAllWorkspacesNeedsTheRole() throws Exception {
        DatabaseUrl empty = TestDatabase.createEmptyUrl();
        DatabaseUrl above = new DatabaseUrl(empty.hosts(), empty.database(), "above", "above", empty.parameters());
        try (Connection c = empty.connect(); Statement statement = c.createStatement()) {
            statement.execute("create role above login bypassrls password 'above'");
            statement.execute("alter database " + empty.database() + " owner to above");
            assertThat(enforced(above)).isFalse();
            statement.execute("grant keelson_request to above");
            assertThat(enforced(above)).isTrue();
        }
    }

    private static boolean enforced(DatabaseUrl url) {
        Migrations.migrate(url);
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(1))) {
            boolean enforced = database.rlsEnforced();
            assertThat(DatabaseProbe.of(url, Clock.systemUTC()).rlsPossible()).isEqualTo(enforced);
            return enforced;
        }
    }

    private static void alter(Installation at, List<String> tables, String also) throws SQLException {
        try (Connection c = at.url.connect(); Statement statement = c.createStatement()) {
            for (String table : tables) {
                statement.execute("drop policy if exists closed on " + table);
                statement.execute("create policy closed on " + table + " as restrictive using (" + also + ")");
            }
        }
    }
}
