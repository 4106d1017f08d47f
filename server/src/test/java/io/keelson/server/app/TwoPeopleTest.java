package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.api.tenant.ApprovalRule;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Questions that two different people have to approve, at two servers of one database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class TwoPeopleTest {

    private static final String STEP = """
            {"name": "a", "start": true, "config": {"approvals": 2}, "plan": {"tasks": [{"id": "a", "steps": [
              {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""";
    private static final String OF_TASK = """
            {"name": "t", "start": true, "plan": {"tasks": [{"id": "a", "approvals": 2, "steps": [
              {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""";
    private static final String PLAN = """
            {"name": "b", "start": true, "config": {"approvals": 2, "autonomy": {"level": "approve"}}, "plan": {"tasks": [
              {"id": "a", "steps": [{"tool": "noop"}]}]}}""";
    private static final String RESULT = """
            {"name": "c", "start": true, "config": {"approvals": 2, "acceptance": "human"}, "plan": {"tasks": [
              {"id": "a", "steps": [{"tool": "noop"}]}]}}""";
    private static final String OUTPUT = """
            {"name": "d", "start": true, "config": {"approvals": 2}, "plan": {"tasks": [
              {"id": "a", "steps": [{"tool": "noop"}], "verify": [{"kind": "human"}]}]}}""";

    private DatabaseUrl database;
    private Server server;
    private Server other;
    private Keelson admin;
    private Keelson ann;
    private Keelson bob;

    @BeforeAll
    void start(@TempDir Path folder, @TempDir Path second) throws Exception {
        database = TestDatabase.createUrl();
        server = start(folder, "");
        admin = with(server, server.apiKey());
        other = start(second, "acme, default");
        ann = with(server, person("ann"));
        bob = with(other, person("bob"));
    }

    private Server start(Path folder, String twoPeople) throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", TestDatabase.text(database), "KEELSON_TWO_PEOPLE", twoPeople), folder, folder));
    }

    @AfterAll
    void end() {
        other.close();
        server.close();
    }

    private static Keelson with(Server at, String key) {
        return Keelson.builder().url(at.baseUrl().toString()).apiKey(key).build();
    }

    private String person(String name) {
        return admin.api().post("/api-keys", Json.tree(Map.of("name", name, "principal", name, "principal_kind",
                "person", "scopes", List.of("runs:read", "runs:write", "approve")))).path("key").stringValue();
    }

    private JsonNode waiting(String mission) {
        return waiting(ann, mission);
    }

    private static JsonNode waiting(Keelson who, String mission) {
        String run = who.api().post("/runs", Json.read(mission)).path("id").stringValue();
        List<JsonNode> found = new ArrayList<>();
        Awaitility.await().atMost(30, TimeUnit.SECONDS).until(() -> {
            found.clear();
            who.api().get("/inbox?run_id=" + run).path("items").forEach(found::add);
            return !found.isEmpty();
        });
        return found.getFirst();
    }

    private static JsonNode accept(Keelson who, JsonNode item) {
        return who.api().post(path(item) + "/accept", Json.object());
    }

    private static String path(JsonNode item) {
        return "/inbox/" + item.path("id").stringValue();
    }

    private static void refused(String code, Runnable call) {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(KeelsonException.class,
                problem -> assertThat(problem.code()).isEqualTo(code));
    }

    private List<String> events(JsonNode item, String... types) {
        return ann.runs().events(item.path("run_id").stringValue(), 0, 500).items().stream()
                .map(event -> event.eventType()).filter(type -> List.of(types).contains(type)).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {STEP, OF_TASK, PLAN, RESULT, OUTPUT})
    void secondPersonDecides(String mission) {
        JsonNode item = waiting(mission);
        String run = item.path("run_id").stringValue();
        assertThat(item.at("/approvals/required").asInt()).isEqualTo(2);
        assertThat(item.at("/approvals/votes")).isEmpty();

        JsonNode first = accept(ann, item);
        assertThat(first.path("decision").stringValue()).isEqualTo("voted");
        assertThat(first.at("/approvals/votes/0/by").stringValue()).isEqualTo("ann");
        refused("ALREADY_VOTED", () -> accept(ann, item));
        refused("APPROVER_NOT_A_PERSON", () -> accept(admin, item));
        assertThat(bob.api().get(path(item)).at("/approvals/votes/0/by").stringValue()).isEqualTo("ann");
        assertThat(bob.api().get("/runs/" + run + "/explain").toString()).contains("ann approved at ");
        assertThat(events(item, "approval_voted")).hasSize(1);

        assertThat(accept(bob, item).path("decision").stringValue()).isEqualTo("accepted");
        assertThat(bob.runs().awaitEnd(run, Duration.ofSeconds(30)).state()).isEqualTo("completed");
        assertThat(events(item, "approval_voted")).hasSize(1);
    }

    @Test
    void repeatedRequestWithItsKeyIsNoSecondVote() {
        JsonNode item = waiting(STEP);
        String run = item.path("run_id").stringValue();
        String step = ann.api().get("/runs/" + run + "/steps").at("/items/0/id").stringValue();
        assertThat(ann.api().post("/steps/" + step + "/approve", Json.object()).path("state").stringValue())
                .isEqualTo("waiting_approval");
        refused("ALREADY_VOTED", () -> ann.api().post("/runs/" + run + "/approve", Json.object()));
        assertThat(bob.api().post("/runs/" + run + "/approve", Json.object()).path("id").stringValue()).isEqualTo(run);
        bob.runs().awaitEnd(run, Duration.ofSeconds(30));
    }

    @Test
    void voteIsWithdrawnBeforeTheDecision() {
        JsonNode item = waiting(STEP);
        refused("NO_VOTE", () -> ann.api().post(path(item) + "/withdraw", Json.object()));
        accept(ann, item);
        refused("NO_VOTE", () -> bob.api().post(path(item) + "/withdraw", Json.object()));
        assertThat(ann.api().post(path(item) + "/withdraw", Json.object()).at("/approvals/votes")).isEmpty();
        assertThat(accept(bob, item).path("decision").stringValue()).isEqualTo("voted");
        assertThat(accept(ann, item).path("decision").stringValue()).isEqualTo("accepted");
        refused("INBOX_ITEM_NOT_FOUND", () -> ann.api().post(path(item) + "/withdraw", Json.object()));
        assertThat(events(item, "approval_voted", "approval_vote_withdrawn"))
                .containsExactly("approval_voted", "approval_vote_withdrawn", "approval_voted");
    }

    @Test
    void oneRejectionDecides() {
        JsonNode item = waiting(STEP);
        accept(ann, item);
        bob.api().post(path(item) + "/reject", Json.object());
        assertThat(bob.runs().awaitEnd(item.path("run_id").stringValue(), Duration.ofSeconds(30)).state())
                .isEqualTo("failed");
    }

    @Test
    void questionIsNotGoneRound() {
        JsonNode item = waiting(STEP);
        refused("APPROVALS_REQUIRED", () -> ann.api().post("/tasks/" + item.path("task_id").stringValue() + "/skip",
                Json.object()));
        refused("APPROVALS_REQUIRED", () -> ann.api().post("/runs/" + item.path("run_id").stringValue()
                + "/agents/1/cancel", Json.object()));
    }

    @Test
    void missionHasItsSubmitterNotApprove() {
        JsonNode item = waiting(STEP.replace("\"approvals\": 2", "\"four_eyes\": true"));
        refused("APPROVER_IS_SUBMITTER", () -> accept(ann, item));
        assertThat(accept(bob, item).path("decision").stringValue()).isEqualTo("accepted");
    }

    @Test
    void workspaceOfTheSettingRequiresTwo() {
        JsonNode item = waiting(bob, STEP.replace("\"approvals\": 2", "\"max_agents\": 2"));
        assertThat(accept(bob, item).path("decision").stringValue()).isEqualTo("voted");
        assertThat(accept(ann, item).path("decision").stringValue()).isEqualTo("accepted");
    }

    @Test
    void ruleOfTheWorkspaceCountsIfItIsStricter() {
        String mission = STEP.replace("\"approvals\": 2", "\"max_agents\": 2");
        refused("SCOPE_MISSING", () -> ann.inbox().changeRule(3, true));
        refused("OUT_OF_RANGE", () -> admin.inbox().changeRule(6, true));
        assertThat(ann.inbox().rule().requiredApprovals()).isEqualTo(1);
        assertThat(bob.inbox().rule().requiredApprovals()).as("the setting of that server").isEqualTo(2);
        JsonNode before = waiting(mission);
        ApprovalRule rule = admin.inbox().changeRule(3, true);
        try {
            assertThat(rule.updatedBy()).isEqualTo("local");
            assertThat(bob.inbox().rule().requiredApprovals()).isEqualTo(3);
            refused("APPROVER_IS_SUBMITTER", () -> accept(ann, before));
            JsonNode item = waiting(mission);
            assertThat(item.at("/approvals/required").asInt()).isEqualTo(3);
            assertThat(ann.api().get("/runs/" + item.path("run_id").stringValue() + "/explain").toString()).contains(
                    "3 people have to approve; the rule of the workspace requires 3 people; another person than ann, who"
                            + " submitted the run, by the rule of the workspace");
            admin.inbox().changeRule(1, false);
            refused("APPROVER_IS_SUBMITTER", () -> accept(ann, item));
            assertThat(accept(bob, item).path("decision").stringValue()).as("a run keeps its rule").isEqualTo("voted");
        } finally {
            admin.inbox().changeRule(1, false);
        }
        assertThat(accept(ann, before).path("decision").stringValue()).isEqualTo("accepted");
        assertThat(admin.api().get("/audit?limit=20").path("items").findValuesAsString("action"))
                .contains("approval_rule_set");
    }

    /** Both servers have decided before either commits: the row of the run is held. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void twoAtOnceAreDecidedOnce(boolean samePerson) throws Exception {
        JsonNode item = waiting(STEP);
        String run = item.path("run_id").stringValue();
        Keelson there = samePerson ? with(other, person("ann")) : bob;
        bob.api().get(path(item));
        try (ExecutorService pool = Executors.newFixedThreadPool(2);
                Connection holder = database.connect(); Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("select from run_heads where run_id = '" + run.substring(run.indexOf('_') + 1)
                    + "' for update");
            Future<Object> one = pool.submit(() -> outcome(ann, item));
            Future<Object> two = pool.submit(() -> outcome(there, item));
            Awaitility.await().atMost(30, TimeUnit.SECONDS).until(() -> waiters(statement) >= 2);
            holder.commit();
            assertThat(List.of(one.get(30, TimeUnit.SECONDS), two.get(30, TimeUnit.SECONDS)))
                    .containsExactlyInAnyOrder("voted", samePerson ? "ALREADY_VOTED" : "accepted");
        }
        assertThat(events(item, "approval_voted", "step_approved"))
                .containsExactlyElementsOf(samePerson ? List.of("approval_voted")
                        : List.of("approval_voted", "step_approved"));
    }

    private static Object outcome(Keelson who, JsonNode item) {
        try {
            return accept(who, item).path("decision").stringValue();
        } catch (KeelsonException e) {
            return e.code();
        }
    }

    private static int waiters(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("select count(*) from pg_stat_activity where datname = "
                + "current_database() and wait_event_type = 'Lock'")) {
            row.next();
            return row.getInt(1);
        }
    }
}
