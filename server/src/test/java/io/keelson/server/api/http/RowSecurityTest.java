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
import io.keelson.server.tenant.auth.Bootstrap;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** A connection for a workspace sees its rows only, even without a filter in the statement. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RowSecurityTest {

    /** The database role that owns the installation. */
    enum User {
        SUPERUSER, PLAIN_OWNER
    }

    /** Of the installation, not of a workspace. */
    private static final Set<String> NOBODYS =
            Set.of("engine_nodes", "engine_outages", "event_watermark", "flyway_schema_history", "prices",
                    "webhook_feed");
    /** Nothing writes them yet, or not here. */
    private static final Set<String> UNUSED =
            Set.of("agents", "call_waits", "credit_months", "event_exports", "live_texts", "mcp_servers", "mcp_tools",
                    "run_event_packs_archive", "saved_views", "session_links", "sessions", "upload_slots",
                    "status_document_progress");

    private static final String MISSION = """
            {"name": "separated", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
              {"id": "note", "steps": [{"tool": "artifact.write", "input": {"name": "n.txt", "content": "x"}},
               {"tool": "proposal.create", "input": {"title": "x"}}]},
              {"id": "waits", "budget_usd": 5, "steps": [{"name": "wait", "tool": "wait", "input": {"seconds": 3000}}]},
              {"id": "fails", "depends_on": ["note"], "steps": [{"name": "try", "tool": "fail", "input": {"times": 9},
                "retry": {"max_attempts": 1}}]}]}}""";

    /** One installation with two workspaces that have done the same. */
    private static final class Installation implements AutoCloseable {
        final ApiServer api;
        final DatabaseUrl url;
        final Database database;
        final UUID ours = Bootstrap.DEFAULT_WORKSPACE;
        final UUID theirs;
        final String run;

        Installation(Path folder, DatabaseUrl url) throws Exception {
            this.url = url;
            api = new ApiServer(folder, url);
            database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
            String stranger = api.stranger();
            run = workIn("");
            workIn(stranger);
            Awaitility.await().until(() -> one("select run_id from run_children").size() == 2);
            theirs = UUID.fromString(one("select id from workspaces where id <> '" + ours + "'").getFirst());
            api.sql("insert into workspace_limits select id, 'steps', 100 from workspaces");
        }

        /** Something of everything, in the workspace of that key; empty for the first one's. */
        private String workIn(String bearer) {
            String[] headers = bearer.isEmpty() ? new String[0] : new String[] {"Authorization", bearer};
            call("PUT", "/secrets/token", "{\"value\": \"0123456789\"}", headers);
            call("PUT", "/secrets/token", "{\"value\": \"9876543210\"}", headers);
            call("POST", "/recipes", "{\"name\": \"r\", \"plan\": {\"tasks\": []}}", headers);
            String schedule = call("POST", "/schedules", """
                    {"name": "s", "cron": "@yearly", "mission": {"name": "m", "plan": {"tasks": []}}}""", headers)
                    .get("id").stringValue();
            call("POST", "/schedules/" + schedule + "/trigger", "{}", headers);
            String webhook = call("POST", "/webhooks", "{\"url\": \"http://127.0.0.1:9/\"}", headers).get("id")
                    .stringValue();
            call("POST", "/webhooks/" + webhook + "/ping", "{}", headers);
            List<String> ordering = new ArrayList<>(List.of(headers));
            ordering.addAll(List.of("Idempotency-Key", "o"));
            call("POST", "/orders", """
                    {"symbol": "X", "side": "buy", "type": "market", "quantity": "1"}""",
                    ordering.toArray(String[]::new));
            call("POST", "/dispatch/claim", """
                    {"worker_id": "w", "tools": ["test.remote"], "max": 1}""", headers);
            call("POST", "/runs", ApiServer.REMOTE, headers);
            JsonNode step = call("POST", "/dispatch/claim", """
                    {"worker_id": "w", "tools": ["test.remote"], "max": 1, "wait_ms": 20000}""", headers).get("items")
                    .get(0);
            call("POST", "/dispatch/artifacts?worker_id=w&lease_epoch=1&name=a&step_id="
                    + step.get("step_id").stringValue(), "any bytes", headers);
            call("POST", "/dispatch/heartbeat",
                    """
                    {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": 1, "progress": {"fraction": 0.5}, "logs": ["a"]}]}"""
                            .formatted(step.get("step_id").stringValue()),
                    headers);
            List<String> keyed = new ArrayList<>(List.of(headers));
            keyed.addAll(List.of("Idempotency-Key", "k"));
            String made = call("POST", "/runs", MISSION, keyed.toArray(String[]::new)).get("id").stringValue();
            Awaitility.await().until(() -> call("GET", "/runs/" + made, null, headers).get("state")
                    .stringValue().equals("escalated"));
            call("POST",
                    call("GET", "/inbox?kind=escalation&run_id=" + made, null, headers).at("/items/0/links/assign")
                            .stringValue()
                            .substring("/api/v1".length()),
                    "{\"assignee\": null}", headers);
            call("POST", "/runs", """
                    {"name": "parent", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"name": "s", "tool": "run.start",
                     "input": {"plan": {"tasks": [{"id": "a", "steps": [{"name": "s", "tool": "wait",
                       "input": {"seconds": 600}}]}]}}}]}]}}""", headers);
            String mayAwait = call("POST", "/runs", """
                    {"name": "may await", "start": true, "config": {"planner": {"tool": "noop", "input": {}}},
                     "plan": {"tasks": [{"id": "a", "steps": [{"tool": "wait", "input": {"seconds": 600}}]}]}}""",
                    headers).get("id").stringValue();
            call("POST", "/runs/" + mayAwait + "/signals/kept", "{}", headers);
            String replanned = call("POST", "/runs", """
                    {"name": "replanned", "start": true, "config": {"planner": {"tool": "noop", "input": {"output": {
                       "tasks": [{"id": "n", "steps": [{"tool": "noop"}]}]}}}},
                     "plan": {"tasks": [{"id": "f", "steps": [{"tool": "fail", "input": {"class": "permanent"}}]}]}}""",
                    headers).get("id").stringValue();
            Awaitility.await().until(() -> call("GET", "/runs/" + replanned, null, headers).get("state")
                    .stringValue().equals("completed"));
            call("POST", "/runs:cancel", "{\"filter\": {\"name\": \"unknown\"}}", headers);
            return made;
        }

        private JsonNode call(String method, String path, String body, String... headers) {
            List<String> all = new ArrayList<>(List.of(headers));
            if (body != null) {
                all.addAll(List.of("Content-Type", "application/json"));
            }
            ApiServer.Answer answer = api.send(method, "/api/v1" + path,
                    body == null ? null : body.getBytes(StandardCharsets.UTF_8), all.toArray(String[]::new));
            assertThat(answer.status()).as("%s %s: %s", method, path, answer.text()).isBetween(200, 299);
            return answer.json();
        }

        /** The first column of what everybody sees who serves no workspace. */
        List<String> one(String sql) {
            return database.withConnection(c -> {
                try (var statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                    List<String> found = new ArrayList<>();
                    while (row.next()) {
                        found.add(row.getString(1));
                    }
                    return found;
                }
            });
        }

        List<String> within(UUID workspace, String sql) {
            return Tenancy.within(workspace, () -> one(sql));
        }

        @Override
        public void close() {
            database.close();
            api.close();
        }
    }

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
