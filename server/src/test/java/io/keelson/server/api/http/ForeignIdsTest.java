package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Every route with every kind of id of another workspace: the response equals that for an unknown id, byte for byte except
 * for the id, and the other workspace's rows do not change. {@code ./check} tries ids of the kind that a route is about, and
 * a seventh of the others, every seventh pair.
 */
@ExtendWith(Breadth.InFailures.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForeignIdsTest {

    /** Bodies of routes that need one to look up the id; the others take an empty object. */
    private static final Map<String, String> BODIES = Map.of(
            "POST /runs/{id}/fork", "{\"task\": \"ask\"}",
            "PATCH /webhooks/{id}", "{\"url\": \"https://ours.example/\"}",
            "POST /triggers/{id}/test", "{\"body\": {}}",
            "POST /webhooks/{id}/redeliver", "{\"dead\": true}",
            "PUT /recipes/{id}", "{\"name\": \"ours\", \"plan\": {\"tasks\": []}}",
            "POST /runs/{id}/budget", "{\"hard_limit_usd\": 5}",
            "POST /escalations/{id}/resolve", "{\"resolution\": \"resume\"}");

    private static final Map<String, String> LEASED = Map.of(
            "/dispatch/heartbeat", "\"lease_epoch\": 1",
            "/dispatch/complete", "\"lease_epoch\": 1, \"output\": 1",
            "/dispatch/continue", "\"lease_epoch\": 1",
            "/dispatch/fail", "\"lease_epoch\": 1, \"error_code\": \"X\"",
            "/dispatch/release", "\"lease_epoch\": 1");

    private ApiServer api;
    private String stranger;
    private final Map<String, String> theirs = new LinkedHashMap<>();

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        stranger = api.stranger();
        String run = api.create("""
                {"name": "theirs", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
                  {"id": "note", "steps": [{"tool": "artifact.write", "input": {"name": "n.txt", "content": "x"}},
                    {"tool": "proposal.create", "input": {"title": "x"}}]},
                  {"id": "fails", "depends_on": ["note"], "steps": [{"name": "try", "tool": "fail", "input": {"times": 9},
                    "retry": {"max_attempts": 1}}]}]}}""");
        api.awaitState(run, "escalated");
        theirs.put("run", run);
        theirs.put("task", first("/runs/" + run + "/tasks"));
        theirs.put("step", first("/runs/" + run + "/steps"));
        theirs.put("artifact", first("/runs/" + run + "/artifacts"));
        theirs.put("escalation", first("/escalations?run_id=" + run));
        theirs.put("agent", api.post("/api/v1/agents", "{\"slug\": \"" + UUID.randomUUID() + "\"}").json().get("slug")
                .stringValue());
        theirs.put("proposal", first("/proposals?run_id=" + run));
        api.post("/api/v1/recipes", "{\"name\": \"theirs\", \"plan\": {\"tasks\": []}}");
        theirs.put("recipe", first("/recipes"));
        api.post("/api/v1/schedules",
                "{\"name\": \"theirs\", \"cron\": \"@yearly\", \"mission\": {\"name\": \"m\", \"plan\": {\"tasks\": []}}}");
        theirs.put("schedule", first("/schedules"));
        api.put("/api/v1/secrets/hook", "{\"value\": \"0123456789\"}");
        api.post("/api/v1/triggers", """
                {"name": "theirs", "source": {"kind": "github", "secrets": ["hook"]}, "enabled": false,
                 "mission": {"name": "m", "plan": {"tasks": []}}}""");
        theirs.put("trigger", first("/triggers"));
        theirs.put("report", first("/reports?run_id=" + run));
        theirs.put("bulk", api.post("/api/v1/runs:cancel", "{\"filter\": {\"name\": \"unknown\"}}").json().get("id")
                .stringValue());
        api.post("/api/v1/webhooks", "{\"url\": \"http://127.0.0.1:9/\", \"enabled\": false}");
        theirs.put("webhook", first("/webhooks"));
        theirs.put("deployment", api.post("/api/v1/deployments", "{\"strategy\": \"s\"}", "Idempotency-Key", "d").json()
                .get("id").stringValue());
        theirs.put("order", api.post("/api/v1/orders", """
                {"symbol": "X", "side": "buy", "type": "limit", "quantity": "1", "limit_price": "2"}""",
                "Idempotency-Key", "o").json().get("id").stringValue());
        theirs.put("command", first("/commands"));
        theirs.put("key", first("/api-keys"));
        api.post("/api/v1/sessions", "{}");
        theirs.put("session", first("/sessions"));
        theirs.put("workspace", api.run(run).get("workspace_id").stringValue());
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"their-worker\", \"tools\": [\"their.tool\"]}");
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @Test
    void foreignIdsAreAnsweredLikeUnknownIds() {
        List<String> asked = new ArrayList<>();
        AtomicInteger pairs = new AtomicInteger();
        Map<String, Long> before = rows();
        for (String operation : operations()) {
            String method = operation.substring(0, operation.indexOf(' '));
            String path = operation.substring(operation.indexOf(' ') + 1);
            byte[] body = method.equals("GET") ? null
                    : BODIES
                            .getOrDefault(method + " " + path.replaceFirst("^/api/v1", ""), "{}")
                            .getBytes(StandardCharsets.UTF_8);
            theirs.forEach((kind, id) -> {
                if (!Breadth.has(pairs.getAndIncrement()) && !operation.contains(kind)) {
                    return;
                }
                String none = UUID.randomUUID().toString();
                assertSame(operation + " " + kind, send(method, path.replaceAll("\\{\\w+}", id), body), id,
                        send(method, path.replaceAll("\\{\\w+}", none), body), none);
                asked.add(operation + " " + kind);
            });
        }
        assertThat(asked).hasSizeGreaterThan(300);
        assertThat(rows()).isEqualTo(before);
        assertThat(api.run(theirs.get("run")).get("state").stringValue()).isEqualTo("escalated");
    }

    @Test
    void artifactsOfTheirRunsAreNoneOfOurs() {
        String none = UUID.randomUUID().toString();
        String run = theirs.get("run");
        String artifact = theirs.get("artifact");
        for (String prefix : List.of("", "/api/v1")) {
            ApiServer.Answer found = send("GET", prefix + "/runs/" + run + "/artifacts/" + artifact + "/content", null);
            assertSame("content", found, run,
                    send("GET", prefix + "/runs/" + none + "/artifacts/" + artifact + "/content", null), none);
        }
    }

    @Test
    void reportsOnTheirStepsAreReportsOnNone() {
        LEASED.forEach((route, members) -> {
            String none = UUID.randomUUID().toString();
            assertSame(route, report(route, theirs.get("step"), members), theirs.get("step"),
                    report(route, none, members), none);
        });
    }

    @Test
    void theirWorkersAndToolsAreUnknown() {
        ApiServer.Answer drained = send("POST", "/api/v1/workers/their-worker/drain", new byte[0]);
        assertSame("drain", drained, "their-worker", send("POST", "/api/v1/workers/no-one/drain", new byte[0]),
                "no-one");
        assertThat(send("GET", "/api/v1/tools", null).text()).doesNotContain("their.tool");

        String mission = "{\"name\": \"x\", \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": [{\"tool\": \"%s\"}]}]}}";
        ApiServer.Answer named = send("POST", "/api/v1/runs", mission.formatted("their.tool").getBytes());
        assertThat(named.json().get("code").stringValue()).isEqualTo("UNKNOWN_TOOL");
        assertSame("tool", named, "their.tool", send("POST", "/api/v1/runs", mission.formatted("none.such").getBytes()),
                "none.such");
    }

    /** Board tasks have numbers; the numbers that follow are unknown. */
    @Test
    void foreignBoardTasksAreNotFound() {
        int task = api.get("/api/v1/board").json().at("/columns/3/items/0/id").intValue();
        assertThat(task).isPositive();
        for (String method : List.of("GET", "PATCH", "DELETE")) {
            byte[] body = method.equals("PATCH") ? "{\"priority\": \"low\"}".getBytes(StandardCharsets.UTF_8) : null;
            assertSame(method, send(method, "/api/v1/board/tasks/" + task, body), String.valueOf(task),
                    send(method, "/api/v1/board/tasks/2000000000", body), "2000000000");
        }
        String child = "{\"title\": \"x\", \"parent_task_id\": %s}";
        assertSame("parent", send("POST", "/api/v1/board/tasks", child.formatted(task).getBytes()),
                String.valueOf(task), send("POST", "/api/v1/board/tasks", child.formatted(2000000000).getBytes()),
                "2000000000");
    }

    @Test
    void theirExternalIdsAreFree() {
        String mission = "{\"name\": \"x\", \"external_id\": \"order-7\", \"plan\": {\"tasks\": []}}";
        assertThat(api.post("/api/v1/runs", mission).status()).isEqualTo(201);

        assertThat(send("POST", "/api/v1/runs", mission.getBytes(StandardCharsets.UTF_8)).status()).isEqualTo(201);
    }

    @Test
    void filtersAndCursorsByTheirIdsFindNothing() {
        for (String filter : List.of("/escalations?run_id=" + theirs.get("run"), "/escalations",
                "/board/tasks?run_id=" + theirs.get("run"), "/reports?run_id=" + theirs.get("run"))) {
            assertThat(send("GET", "/api/v1" + filter, null).json().get("items").isEmpty()).as(filter).isTrue();
        }
        assertThat(send("GET", "/api/v1/ledger?limit=500", null).text()).doesNotContain(theirs.get("run"));
        assertThat(send("GET", "/api/v1/runs", null).text()).doesNotContain(theirs.get("run"));
        assertThat(send("GET", "/api/v1/workers", null).text()).doesNotContain("their-worker");
    }

    private static void assertSame(String what, ApiServer.Answer theirs, String their, ApiServer.Answer nobodys,
            String none) {
        assertThat(theirs.status()).as(what + "\n" + theirs.text()).isEqualTo(nobodys.status());
        assertThat(theirs.text()).as(what).isEqualTo(nobodys.text().replace(none, their));
        assertThat(headers(theirs)).as(what).isEqualTo(headers(nobodys));
    }

    private static Map<String, List<String>> headers(ApiServer.Answer answer) {
        Map<String, List<String>> headers = new TreeMap<>(answer.response().headers().map());
        headers.keySet().removeAll(Set.of("date", "content-length"));
        return headers;
    }

    private ApiServer.Answer report(String route, String step, String members) {
        String body = "{\"worker_id\": \"w\", \"items\": [{\"step_id\": \"" + step + "\", " + members + "}]}";
        return send("POST", "/api/v1" + route, body.getBytes(StandardCharsets.UTF_8));
    }

    private ApiServer.Answer send(String method, String path, byte[] body) {
        return api.send(method, path, body, "Authorization", stranger, "Content-Type",
                body == null ? "" : "application/json");
    }

    private String first(String path) {
        return api.get("/api/v1" + path).json().get("items").get(0).get("id").stringValue();
    }

    /** Of every table but those in which the strangers' own calls leave something. */
    private Map<String, Long> rows() {
        Map<String, Long> rows = new TreeMap<>(api.rowCounts());
        rows.keySet().removeAll(Set.of("workers", "workspaces", "credit_slots"));
        return rows;
    }

    /** With an id in the path, as {@code METHOD /path}. */
    private List<String> operations() {
        JsonNode document = api.get("/openapi.json").json();
        List<String> operations = new ArrayList<>();
        document.get("paths").properties().forEach(path -> {
            JsonNode reference = path.getValue().get("$ref");
            JsonNode item = reference == null ? path.getValue() : document.at(reference.stringValue().substring(1));
            item.propertyNames().stream().filter(Set.of("get", "post", "put", "patch", "delete")::contains)
                    .filter(method -> path.getKey().contains("{"))
                    .forEach(method -> operations.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey()));
        });
        return operations;
    }
}
