package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.tenant.auth.Bootstrap;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;

/** An installation with two workspaces that have done the same: a row in nearly every table. */
public final class Installation implements AutoCloseable {

    private static final String MISSION = """
            {"name": "separated", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
              {"id": "note", "steps": [{"tool": "artifact.write", "input": {"name": "n.txt", "content": "x"}},
               {"tool": "proposal.create", "input": {"title": "x"}}]},
              {"id": "waits", "budget_usd": 5, "steps": [{"name": "wait", "tool": "wait", "input": {"seconds": 3000}}]},
              {"id": "fails", "depends_on": ["note"], "steps": [{"name": "try", "tool": "fail", "input": {"times": 9},
                "retry": {"max_attempts": 1}}]}]}}""";

    public final ApiServer api;
    public final DatabaseUrl url;
    final Database database;
    final UUID ours = Bootstrap.DEFAULT_WORKSPACE;
    final UUID theirs;
    final String run;

    public Installation(Path folder, DatabaseUrl url) throws Exception {
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
        String trigger = call("POST", "/triggers", """
                {"name": "t", "source": {"kind": "secret", "secrets": ["token"]}, "key": "${ .body.id }",
                 "example": {"body": {"id": 1}}, "mission": {"name": "m", "plan": {"tasks": []}}}""", headers)
                .get("path").stringValue();
        assertThat(api.send("POST", trigger, "{\"id\": 1}".getBytes(StandardCharsets.UTF_8), "Authorization", "",
                "X-Webhook-Secret", "9876543210").status()).isEqualTo(202);
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
