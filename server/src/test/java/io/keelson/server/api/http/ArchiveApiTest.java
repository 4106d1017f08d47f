package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.upkeep.RunArchiver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** An archived run answers as before, changes nothing, and comes back as it was. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class ArchiveApiTest {

    private static final Duration AGE = Duration.ofDays(90);

    private static final String RICH =
            """
            {"name": "rich", "start": true, "tags": ["t", "u"], "goal": "go", "inputs": {"who": {"default": "we"}},
             "config": {"budget": {"hard_limit_usd": 5}},
             "plan": {"tasks": [
              {"id": "a", "steps": [
                {"tool": "artifact.write", "input": {"name": "a.txt", "content": "kept for long"}},
                {"tool": "proposal.create", "input": {"title": "x", "expires_in_seconds": 1}},
                {"tool": "echo", "input": {"null": null, "text": "ä\\n\\"\\\\ \\u2028"}}]},
              {"id": "b", "depends_on": ["a"], "steps": [{"tool": "noop", "input": {"tokens": 30, "cost": 0.25}}]},
              {"id": "c", "depends_on": ["a"], "failure_mode": "continue",
               "steps": [{"tool": "fail", "input": {"code": "NO"}, "retry": {"max_attempts": 2, "base_delay_seconds": 0.01}}]}]}}""";

    private ApiServer api;
    private RunArchiver archiver;
    private Path folder;

    @BeforeAll
    void start(@TempDir Path made) throws Exception {
        folder = made;
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @BeforeEach
    void archiver() throws IOException {
        archiver = new RunArchiver(api.database(), new RunArchive(DbClock.DATABASE),
                new LocalArtifactStore(folder.resolve("artifacts")), new RunArchiver.Ages(AGE, null), UUID::randomUUID,
                RunArchiver.Observer.NONE);
    }

    private void age(String run, int days) {
        String back = " - interval '" + days + " days'";
        api.sql("""
                update orchestration_runs set created_at = created_at%1$s, started_at = started_at%1$s,
                    completed_at = completed_at%1$s where id = '%2$s'""".formatted(back, run));
        api.sql("update proposals set expires_at = expires_at" + back + " where run_id = '" + run + "'");
    }

    private String rich() {
        String run = api.create(RICH);
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> api.run(run).get("state_type").asString().equals("terminal"));
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> api.count("select count(*) from agent_reports where run_id = '" + run + "'") >= 3);
        age(run, 100);
        return run;
    }

    /** All that routes of the run answer. */
    private Map<String, String> answers(String run) {
        Map<String, String> answers = new TreeMap<>();
        List<String> paths =
                new ArrayList<>(List.of("", "?light=true", "/status", "/states", "/events", "/tasks", "/steps",
                        "/attempts", "/plans", "/agents", "/timeline", "/graph", "/explain", "/ledger", "/artifacts",
                        "/mission"));
        paths.replaceAll(path -> "/runs/" + run + path);
        for (String kind : List.of("tasks", "steps")) {
            for (JsonNode each : api.get("/api/v1/runs/" + run + "/" + kind).json().get("items")) {
                String one = "/" + kind + "/" + each.get("id").asString();
                paths.addAll(kind.equals("tasks") ? List.of(one, one + "/steps", one + "/transcript", one + "/output")
                        : List.of(one, one + "/attempts", one + "/logs"));
            }
        }
        for (JsonNode each : api.get("/api/v1/runs/" + run + "/artifacts").json().get("items")) {
            paths.add("/runs/" + run + "/artifacts/" + each.get("id").asString() + "/content");
        }
        for (String path : paths) {
            ApiServer.Answer answer = api.get("/api/v1" + path);
            answers.put(path, answer.status() + " " + withoutTime(answer.text()));
        }
        return answers;
    }

    private static String withoutTime(String text) {
        return text.replaceAll(",?\"archived_at\":\"[^\"]*\"", "").replaceAll("\"(now|as_of|at)\":\"[^\"]*\"", "");
    }

    /** The rows of all tables as text. */
    private Map<String, List<String>> rows(String run) {
        Map<String, List<String>> rows = new TreeMap<>();
        for (String table : List.of("orchestration_runs", "run_heads", "run_attempts", "run_agents", "run_plans",
                "run_parents",
                "run_children", "task_budgets", "run_signals", "run_tool_versions", "board_tasks",
                "orchestration_tasks",
                "orchestration_task_dependencies", "task_steps", "step_results", "step_logs", "step_progress",
                "task_rounds",
                "agent_reports", "artifacts", "escalation_tickets", "proposals", "run_event_packs",
                "run_event_packs_archive", "event_exports")) {
            rows.put(table, api.database().withConnection(c -> {
                try (var s = c.createStatement();
                        var row = s.executeQuery("select t::text from " + table + " t order by 1")) {
                    List<String> found = new ArrayList<>();
                    while (row.next()) {
                        found.add(row.getString(1));
                    }
                    return found;
                }
            }));
        }
        return rows;
    }

    private static void assertSame(Map<String, String> answers, Map<String, String> before) {
        assertThat(answers.keySet()).isEqualTo(before.keySet());
        before.forEach((path, text) -> assertThat(answers.get(path)).as(path).isEqualTo(text));
    }

    private ApiServer.Answer restore(String run) {
        return api.post("/api/v1/runs/" + run + "/restore", "{}");
    }

    @Test
    void archivedRunAnswersAsBefore() throws IOException {
        String run = rich();
        Map<String, String> before = answers(run);
        Map<String, List<String>> tables = rows(run);
        JsonNode listed = api.get("/api/v1/runs?name=rich").json().get("items").get(0);
        assertThat(before.values().stream().filter(text -> !text.startsWith("200")).toList()).hasSizeLessThan(8);

        assertThat(archiver.archive()).isEqualTo(1);

        assertThat(api.count("select count(*) from orchestration_runs where id = '" + run + "'")).isZero();
        assertSame(answers(run), before);
        assertThat(api.run(run).get("archived_at").asString()).isNotEmpty();
        assertThat(api.get("/api/v1/runs").text()).doesNotContain(run);
        ObjectNode archived =
                (ObjectNode) api.get("/api/v1/runs?archived=true&tag=t&name=rich").json().get("items").get(0);
        assertThat(archived.remove("archived_at").asString()).isNotEmpty();
        ((ObjectNode) listed).putNull("config");
        assertThat(archived).isEqualTo(listed);
        assertThat(api.get("/api/v1/runs?archived=true&state=failed").json().get("items")).isEmpty();
        for (String change : List.of("cancel", "retry", "pause", "fork")) {
            ApiServer.Answer refused = api.post("/api/v1/runs/" + run + "/" + change,
                    change.equals("fork") ? "{\"task\": \"a\"}" : "{}");
            assertThat(refused.status() + refused.json().get("code").asString()).as(change)
                    .isEqualTo("409RUN_ARCHIVED");
            assertThat(refused.json().get("detail").asString()).contains("/runs/" + run + "/restore");
        }
        assertThat(api.send("DELETE", "/api/v1/runs/" + run, null).status()).isEqualTo(409);
        assertThat(api.get("/api/v1/runs/" + run + "/events/stream").text()).contains("run_completed", "run_created");
        JsonNode check = api.get("/api/v1/archive/verify").json();
        assertThat(check.get("damaged")).isEmpty();
        assertThat(check.get("rows").asLong()).isGreaterThan(20);
        assertThat(api.get("/api/v1/archive").json().get("runs").asLong()).isEqualTo(1);
        assertThat(api.get("/api/v1/ledger/verify").json().get("ok").asBoolean()).isTrue();
        assertThat(api.get("/api/v1/usage?by=run").text()).contains("\"rich\"");
        assertThat(api.get("/api/v1/runs/" + run, "Authorization", api.stranger()).status()).isEqualTo(404);

        assertThat(restore(run).status()).isEqualTo(200);

        assertThat(rows(run)).isEqualTo(tables);
        assertSame(answers(run), before);
        assertThat(restore(run).status()).as("again").isEqualTo(200);
        assertThat(rows(run)).isEqualTo(tables);
        assertThat(api.get("/api/v1/audit").text()).contains("run_restored");
        assertThat(archiver.archive()).as("a restored run stays for a while").isZero();
        assertThat(api.get("/api/v1/archive").json().get("objects").asLong()).isZero();
        assertThat(restore(UUID.randomUUID().toString()).status()).isEqualTo(404);
        api.sql("update restored_runs set restored_at = restored_at - interval '91 days'");
        assertThat(archiver.archive()).isEqualTo(1);
        damaged(run);
    }

    @Test
    void externalIdAndKeyNameTheArchivedRun() {
        String mission = """
                {"name": "named", "start": true, "external_id": "once", "external_id_policy": "%s", "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "echo", "input": {"n": 1}}]}]}}""";
        ApiServer.Answer first = api.post("/api/v1/runs", mission.formatted("existing"), "Idempotency-Key", "k1");
        String run = first.json().get("id").asString();
        api.awaitState(run, "completed");
        age(run, 100);
        ApiServer.Answer before = api.post("/api/v1/runs", mission.formatted("existing"), "Idempotency-Key", "k1");
        assertThat(before.json().get("id").asString()).isEqualTo(run);
        assertThat(archiver.archive()).isEqualTo(1);

        ApiServer.Answer repeated = api.post("/api/v1/runs", mission.formatted("existing"), "Idempotency-Key", "k1");
        assertThat(repeated.status() + repeated.json().get("id").asString()).isEqualTo(before.status() + run);
        ApiServer.Answer existing = api.post("/api/v1/runs", mission.formatted("existing"));
        assertThat(existing.status() + existing.json().get("id").asString()).isEqualTo("200" + run);
        ApiServer.Answer taken = api.post("/api/v1/runs", mission.formatted("reject"));
        assertThat(taken.status() + taken.json().get("code").asString()).isEqualTo("409EXTERNAL_ID_TAKEN");
        assertThat(taken.text()).contains(run);
        assertThat(api.get("/api/v1/runs?archived=true&external_id=once").text()).contains(run);

        ApiServer.Answer successor = api.post("/api/v1/runs", mission.formatted("after_end"));
        assertThat(successor.status()).as(successor.text()).isEqualTo(201);
        assertThat(api.run(run).get("external_id").isNull()).isTrue();
        assertThat(restore(run).json().get("external_id").isNull()).isTrue();
        api.awaitState(successor.json().get("id").asString(), "completed");
    }

    /** The fork has no output of its own for the task before it. */
    @Test
    void archivedForkReadsItsArchivedSource() {
        String source = api.create("""
                {"name": "source", "start": true, "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "echo", "input": {"from": "the source"}}]},
                  {"id": "b", "depends_on": ["a"], "steps": [{"tool": "echo", "input": {"n": 1}}]}]}}""");
        api.awaitState(source, "completed");
        ApiServer.Answer made = api.post("/api/v1/runs/" + source + "/fork", "{\"task\": \"b\"}");
        String fork = made.json().get("id").asString();
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> api.run(fork).get("state_type").asString().equals("terminal"));
        age(source, 120);
        assertThat(archiver.archive()).as("the source waits for its fork").isZero();
        age(fork, 110);
        Map<String, String> before = answers(fork);
        assertThat(String.join("", before.values())).contains("the source");

        assertThat(archiver.archive()).isEqualTo(1);
        assertThat(archiver.archive()).isEqualTo(1);

        assertSame(answers(fork), before);
        assertThat(restore(fork).status()).isEqualTo(200);
        assertSame(answers(fork), before);
        assertThat(api.get("/api/v1/runs").text()).contains(source);
    }

    /** Objects of the store that are gone or others. */
    private void damaged(String run) throws IOException {
        String key = api.database().withConnection(c -> {
            try (var s = c.createStatement(); var row = s.executeQuery("select storage_key from archive_objects")) {
                row.next();
                return row.getString(1);
            }
        });
        Path file = folder.resolve("artifacts").resolve(key);
        byte[] content = Files.readAllBytes(file);
        byte[] other = content.clone();
        other[other.length / 2] ^= 1;
        Files.write(file, other);
        assertThat(api.get("/api/v1/runs/" + run).json().get("code").asString()).isEqualTo("ARCHIVE_UNREADABLE");
        assertThat(restore(run).status()).isEqualTo(503);
        assertThat(api.get("/api/v1/archive/verify").json().at("/damaged/0/problem").asString()).isEqualTo("damaged");
        Files.delete(file);
        assertThat(api.get("/api/v1/archive/verify").json().at("/damaged/0/problem").asString()).isEqualTo("missing");
        assertThat(restore(run).status()).isEqualTo(503);
        Files.write(file, content);
        assertThat(restore(run).status()).isEqualTo(200);
    }
}
