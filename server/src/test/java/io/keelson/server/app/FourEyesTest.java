package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

/** In a workspace with the four-eyes principle, another person than the submitter of a run approves. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FourEyesTest {

    private static final String STEP = """
            {"name": "a", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
              {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""";
    private static final String PLAN = """
            {"name": "b", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": {"tasks": [
              {"id": "a", "steps": [{"tool": "noop"}]}]}}""";
    private static final String RESULT = """
            {"name": "c", "start": true, "config": {"acceptance": "human"}, "plan": {"tasks": [
              {"id": "a", "steps": [{"tool": "noop"}]}]}}""";
    private static final String OUTPUT = """
            {"name": "d", "start": true, "plan": {"tasks": [
              {"id": "a", "steps": [{"tool": "noop"}], "verify": [{"kind": "human"}]}]}}""";

    private Server server;
    private Keelson ann;
    private Keelson bob;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()), "KEELSON_FOUR_EYES",
                "other, default"), folder, folder));
        Keelson admin = with(server.apiKey());
        ann = person(admin, "ann");
        bob = person(admin, "bob");
    }

    @AfterAll
    void end() {
        server.close();
    }

    private Keelson with(String key) {
        return Keelson.builder().url(server.baseUrl().toString()).apiKey(key).build();
    }

    private Keelson person(Keelson admin, String name) {
        return with(admin.api().post("/api-keys", Json.tree(Map.of("name", name, "principal", name, "principal_kind",
                "person", "scopes", List.of("runs:read", "runs:write", "approve")))).path("key").stringValue());
    }

    private JsonNode waiting(String mission) {
        String run = ann.api().post("/runs", Json.read(mission)).path("id").stringValue();
        List<JsonNode> found = new ArrayList<>();
        Awaitility.await().atMost(30, TimeUnit.SECONDS).until(() -> {
            found.clear();
            ann.api().get("/inbox?run_id=" + run).path("items").forEach(found::add);
            return !found.isEmpty();
        });
        return found.getFirst();
    }

    private static void refused(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(KeelsonException.class,
                problem -> assertThat(problem.code()).isEqualTo("APPROVER_IS_SUBMITTER"));
    }

    @ParameterizedTest
    @ValueSource(strings = {STEP, PLAN, RESULT, OUTPUT})
    void submitterDoesNotApprove(String mission) {
        JsonNode item = waiting(mission);
        String path = "/inbox/" + item.path("id").stringValue();
        String run = item.path("run_id").stringValue();

        refused(() -> ann.api().post(path + "/accept", Json.object()));
        assertThat(ann.api().get("/runs/" + run + "/explain").toString())
                .contains("another person than ann, who submitted the run");
        assertThat(bob.api().post(path + "/accept", Json.object()).path("decision").stringValue())
                .isEqualTo("accepted");
        bob.runs().awaitEnd(run, Duration.ofSeconds(30));
    }

    @Test
    void submitterDoesNotPassTheInboxBy() {
        JsonNode step = waiting(STEP);
        JsonNode steps = ann.api().get("/runs/" + step.path("run_id").stringValue() + "/steps").path("items").get(0);
        refused(() -> ann.api().post("/steps/" + steps.path("id").stringValue() + "/approve", Json.object()));
        refused(() -> ann.api().post("/tasks/" + steps.path("task_id").stringValue() + "/skip", Json.object()));
        refused(() -> ann.api().post("/tasks/" + steps.path("task_id").stringValue() + "/cancel", Json.object()));
        String plan = waiting(PLAN).path("run_id").stringValue();
        refused(() -> ann.api().post("/runs/" + plan + "/approve", Json.object()));
        String task = waiting(OUTPUT).path("task_id").stringValue();
        refused(() -> ann.api().post("/tasks/" + task + "/approve", Json.object()));
    }

    @Test
    void submitterRejects() {
        JsonNode item = waiting(STEP);
        assertThat(ann.api().post("/inbox/" + item.path("id").stringValue() + "/reject", Json.object()).path("decision")
                .stringValue()).isEqualTo("rejected");
    }
}
