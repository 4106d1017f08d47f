package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.workspace.WorkspacePurge;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A deleted workspace has no rows in any table except its ledger. */
@Breadth.Spread
class WorkspacePurgeTest {

    private static final Set<String> STAYS = Set.of("billing_ledger", "credit_slots", "operator_audit");

    private ApiServer api;
    private String workspace;
    private String bearer;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        bearer = api.stranger();
        workspace = api.database().withConnection(c -> {
            try (var s = c.createStatement();
                    ResultSet row = s.executeQuery("select id from workspaces where name = 'elsewhere'")) {
                row.next();
                return row.getString(1);
            }
        });
        send("POST", "/recipes", "{\"name\": \"r\", \"plan\": {\"tasks\": []}}");
        send("POST", "/schedules", "{\"name\": \"s\", \"cron\": \"@yearly\", \"recipe\": \"r\"}");
        send("PUT", "/secrets/token", "{\"value\": \"0123456789\"}");
        send("POST", "/agents", "{\"slug\": \"writer\"}");
        send("POST", "/runs:cancel", "{\"filter\": {\"name\": \"unknown\"}}");
        String done = send("POST", "/runs", """
                {"name": "done", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "artifact.write", "input": {"name": "a.txt", "content": "x"}}]},
                  {"id": "b", "depends_on": ["a"], "steps": [{"tool": "noop", "input": {"tokens": 5}}]}]}}""").get("id")
                .stringValue();
        work();
        send("POST", "/runs", ApiServer.WAITS.replace("\"waits\",", "\"waits\", \"start\": true,"));
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                () -> send("GET", "/runs/" + done, null).get("state").stringValue().equals("completed"));
    }

    @AfterEach
    void stop() {
        api.close();
    }

    /** A worker says how far it is, and what it does. */
    private void work() {
        String claim = "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"max\": 1, \"wait_ms\": 20000}";
        send("POST", "/dispatch/claim", claim.replace("20000", "0"));
        send("POST", "/runs", ApiServer.REMOTE);
        JsonNode item = send("POST", "/dispatch/claim", claim).get("items").get(0);
        send("POST", "/dispatch/heartbeat", """
                {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": %s, "progress": {"fraction": 0.5}, "logs": ["a line"]}]}
                """.formatted(item.get("step_id").stringValue(), item.get("lease_epoch").intValue()));
    }

    private JsonNode send(String method, String path, String body) {
        ApiServer.Answer answer = api.send(method, "/api/v1" + path, body == null ? null : body.getBytes(),
                "Authorization", bearer, "Content-Type", body == null ? "" : "application/json");
        assertThat(answer.status()).as(method + path + answer.text()).isBetween(200, 299);
        return answer.json();
    }

    /** How many rows each table has that names the workspace. */
    private Map<String, Long> rows() {
        return api.database().withConnection(c -> {
            Map<String, Long> rows = new TreeMap<>();
            try (var s = c.createStatement()) {
                List<String> tables = new ArrayList<>();
                try (ResultSet row = s.executeQuery("""
                        select c.table_name from information_schema.columns c
                          join information_schema.tables t using (table_schema, table_name)
                         where c.column_name = 'workspace_id' and table_schema = 'public'
                           and t.table_type = 'BASE TABLE'""")) {
                    while (row.next()) {
                        tables.add(row.getString(1));
                    }
                }
                for (String table : tables) {
                    try (ResultSet row = s.executeQuery(
                            "select count(*) from " + table + " where workspace_id = '" + workspace + "'")) {
                        row.next();
                        rows.put(table, row.getLong(1));
                    }
                }
            }
            return rows;
        });
    }

    /** All ids in rows of the workspace, its own among them. */
    private Set<String> ids() {
        return found("""
                select format('select %I::text from %I where workspace_id = %L', c.column_name, c.table_name, '{}')
                  from information_schema.columns c
                  join information_schema.columns w using (table_schema, table_name)
                  join information_schema.tables t using (table_schema, table_name)
                 where c.udt_name = 'uuid' and w.column_name = 'workspace_id' and table_schema = 'public'
                   and t.table_type = 'BASE TABLE'""".replace("{}", workspace));
    }

    /** In which tables some of the ids are. */
    private Set<String> tablesWith(Set<String> ids) {
        return found("""
                select format('select %L from %I where %I = any (%L)', table_name, table_name, column_name, '{{}}')
                  from information_schema.columns join information_schema.tables using (table_schema, table_name)
                 where udt_name = 'uuid' and table_schema = 'public' and table_type = 'BASE TABLE'
                """.replace("{}", String.join(",", ids)));
    }

    /** What the statements find that a statement makes. */
    private Set<String> found(String statements) {
        return api.database().withConnection(c -> {
            try (var s = c.createStatement()) {
                Set<String> found = new TreeSet<>();
                for (String each : column(s, statements)) {
                    found.addAll(column(s, each));
                }
                return found;
            }
        });
    }

    private static List<String> column(Statement s, String sql) throws SQLException {
        List<String> values = new ArrayList<>();
        try (ResultSet row = s.executeQuery(sql)) {
            while (row.next()) {
                if (row.getString(1) != null) {
                    values.add(row.getString(1));
                }
            }
        }
        return values;
    }

    private JsonNode deleted() {
        api.sql("update workspaces set closed_at = clock_timestamp() - interval '1 minute' where id = '" + workspace
                + "'");
        api.send("DELETE", "/api/v1/workspaces/" + workspace, null);
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> api.get("/api/v1/workspaces/" + workspace).json()
                .get("state").stringValue().equals("deleted"));
        return api.get("/api/v1/workspaces/" + workspace).json();
    }

    @Test
    void onlyTheLedgerStays() {
        Map<String, Long> before = rows();
        assertThat(before.values().stream().filter(n -> n > 0)).hasSizeGreaterThan(12);
        Set<String> ids = ids();
        assertThat(tablesWith(ids)).contains("step_logs", "step_progress", "step_results", "run_heads", "timers",
                "work_queue", "run_event_packs", "run_attempts", "orchestration_task_dependencies");

        ApiServer.Answer answer = api.send("DELETE", "/api/v1/workspaces/" + workspace, null);

        assertThat(answer.status()).as(answer.text()).isEqualTo(202);
        assertThat(deleted().get("purged_rows").longValue()).isPositive();
        Map<String, Long> after = rows();
        after.forEach((table, n) -> {
            if (STAYS.contains(table)) {
                assertThat(n).as(table).isGreaterThanOrEqualTo(before.get(table));
            } else {
                assertThat(n).as(table).isZero();
            }
        });
        // Its name stays, too: in the row that says that it is deleted.
        assertThat(tablesWith(ids)).containsExactlyInAnyOrder("billing_ledger", "credit_slots", "operator_audit",
                "workspaces");
        assertThat(api.get("/api/v1/ledger/verify?all=true").text()).doesNotContain("\"discrepancy\":{");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                () -> api.send("GET", "/api/v1/runs", null, "Authorization", bearer).status() == 401);
        assertThat(api.send("DELETE", "/api/v1/workspaces/" + workspace, null).status()).isEqualTo(202);
    }

    /** After a crash in the middle of the deletion, the next server continues, in portions of any size. */
    @Test
    void purgeContinuesAfterAnInterruption() {
        api.send("POST", "/api/v1/workspaces/" + workspace + "/close", "{}".getBytes(), "Content-Type",
                "application/json");
        api.sql("update workspaces set purge_asked_at = clock_timestamp() where id = '" + workspace + "'");
        WorkspacePurge purge = new WorkspacePurge(api.database());
        for (int i = 0; i < 5; i++) {
            assertThat(purge.portion(UUID.fromString(workspace), 3)).isTrue();
        }
        assertThat(rows().get("orchestration_runs")).isPositive();

        api.send("DELETE", "/api/v1/workspaces/" + workspace, null);

        deleted();
        assertThat(rows().get("orchestration_runs")).isZero();
    }

    /** The first one was opened again by hand, and nothing of it may be removed. */
    @Test
    void failedPurgeDoesNotBlockOthers() {
        api.sql("insert into workspaces (id, name, purge_asked_at)"
                + " values ('00000000-0000-7000-8000-0000000000aa', 'stuck', '-infinity')");

        deleted();

        assertThat(rows().get("orchestration_runs")).isZero();
    }

    @Test
    void onlyOperatorsAndNeverTheFirstOne() {
        assertThat(api.send("DELETE", "/api/v1/workspaces/" + workspace, null, "Authorization", bearer).status())
                .isEqualTo(403);
        assertThat(Scope.all(false)).doesNotContain(Scope.OPERATOR);
        String first = "00000000-0000-7000-8000-000000000001";
        assertThat(api.send("DELETE", "/api/v1/workspaces/" + first, null).json().get("code").stringValue())
                .isEqualTo("WORKSPACE_NOT_OPEN");
    }
}
