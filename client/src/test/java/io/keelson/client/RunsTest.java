package io.keelson.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.api.Problem;
import io.keelson.api.definition.Lifecycle;
import io.keelson.api.run.Artifact;
import io.keelson.api.run.Run;
import io.keelson.api.run.RunStates;
import io.keelson.api.run.Task;
import io.keelson.client.http.ScriptedServer;
import io.keelson.client.http.ScriptedServer.Answer;
import io.keelson.client.plan.Mission;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RunsTest {

    private static final String RUN = """
            {"id":"r1","name":"n","state":"created","state_type":"pending","attempt_number":1,"max_attempts":3,
             "total_cost":"0.250000","created_at":"2026-01-02T03:04:05.678Z","duration_ms":null,"output":null,
             "inputs":{"path":"."},"status":"created","a_member_of_tomorrow":{"x":[1]}}""";

    private final ScriptedServer server = new ScriptedServer();
    private final Keelson keelson = server.client();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void createsARunAndToleratesMembersItDoesNotKnow() {
        server.on("POST /api/v1/runs", Answer.json(RUN));

        Run run = keelson.runs().create(Mission.named("n").goal("g").input("path", "."));

        assertThat(run.id()).isEqualTo("r1");
        assertThat(run.createdAt()).isEqualTo(Instant.parse("2026-01-02T03:04:05.678Z"));
        assertThat(run.totalCost()).isEqualByComparingTo(new BigDecimal("0.25"));
        assertThat(run.durationMs()).isNull();
        assertThat(run.output().isNull()).isTrue();
        assertThat(run.plan().isNull()).isTrue();
        assertThat(run.inputs().path("path").asString()).isEqualTo(".");
        assertThat(run.ended()).isFalse();
        ScriptedServer.Request request = server.requests("POST /api/v1/runs").get(0);
        assertThat(request.header("Authorization")).isEqualTo("Bearer key-1");
        assertThat(request.body()).isEqualTo(Json.of(Map.of("name", "n", "goal", "g", "input", Map.of("path", "."))));
    }

    @Test
    void runStatesAndTheirMachinesAreRead() {
        server.on("GET /api/v1/runs/r1/states", Answer.json("""
                {"run_id":"r1","attempt_number":2,"circumstance":"waits_for_human",
                 "canonical":{"run":"running","tasks":{"running":1},"steps":{"waiting_approval":1}},
                 "contracts":{"handoff":{"run":"RUNNING"},
                              "gate4":{"run":"awaiting_user_confirmation","tasks":{"executing":1}}}}"""));
        server.on("GET /api/v1/lifecycles/gate4", Answer.json("""
                {"name":"gate4","entity":"run","initial":"received","title":"Orchestrator Controls",
                 "states":[{"name":"received","type":"pending","terminal":false}],
                 "transitions":[{"from":"received","to":"received","by":"repeated"}],
                 "projection":[{"canonical":"retrying","state":"received","new_item":true}],
                 "machines":[{"name":"gate4","entity":"task","initial":"received","states":[],"transitions":[]}]}"""));

        RunStates states = keelson.runs().states("r1");
        Lifecycle gate4 = keelson.lifecycle("gate4");

        assertThat(states.circumstance()).isEqualTo("waits_for_human");
        assertThat(states.canonical().steps()).isEqualTo(Map.of("waiting_approval", 1L));
        assertThat(states.contracts().get("gate4"))
                .isEqualTo(new RunStates.Words("awaiting_user_confirmation", Map.of("executing", 1L), Map.of(), null,
                        null));
        assertThat(states.contracts().get("handoff"))
                .isEqualTo(new RunStates.Words("RUNNING", Map.of(), Map.of(), null, null));
        assertThat(gate4.projection())
                .containsExactly(new Lifecycle.Projected("retrying", null, "received", true));
        assertThat(gate4.transitions().get(0).event()).isNull();
        assertThat(gate4.machines()).extracting(Lifecycle.Machine::entity).containsExactly("task");
        assertThat(gate4.machines().get(0).projection()).isEmpty();
    }

    @Test
    void aRefusalCarriesCodeProblemsAndWhatIsAllowed() {
        server.on("POST /api/v1/runs", Answer.problem(422, """
                {"type":"about:blank","title":"Plan refused","status":422,"detail":"2 problems","code":"PLAN_INVALID",
                 "problems":[{"code":"UNKNOWN_TOOL","pointer":"/plan/tasks/0/steps/0/tool","message":"no tool x"},
                             {"code":"CYCLE","pointer":"/plan/tasks","message":"a → b → a"}]}"""));
        server.on("POST /api/v1/runs/r1/pause", Answer.problem(409, """
                {"title":"Not now","status":409,"code":"INVALID_STATE_TRANSITION","state":"failed",
                 "allowed":["retrying"]}"""));

        KeelsonException plan = refusal(() -> keelson.runs().create(RunRequest.of(Json.object())));
        KeelsonException pause = refusal(() -> keelson.runs().pause("r1"));

        assertThat(plan.status()).isEqualTo(422);
        assertThat(plan).hasMessage("PLAN_INVALID: 2 problems");
        assertThat(plan.problems()).containsExactly(
                new Problem.Fault("UNKNOWN_TOOL", "/plan/tasks/0/steps/0/tool", "no tool x"),
                new Problem.Fault("CYCLE", "/plan/tasks", "a → b → a"));
        assertThat(pause).hasMessage("INVALID_STATE_TRANSITION: Not now");
        assertThat(pause.allowed()).containsExactly("retrying");
        assertThat(pause.document().path("state").asString()).isEqualTo("failed");
        assertThat(pause.isTransient()).isFalse();
    }

    @Test
    void anErrorThatIsNoProblemDocumentStillHasACode() {
        server.on("GET /api/v1/runs/r1", new Answer(500, "<html>oops</html>", Map.of()));

        assertThat(refusal(() -> keelson.runs().get("r1")).code()).isEqualTo("HTTP_500");
    }

    @Test
    void readsAreRepeatedOverOverloadAndCutConnections() {
        server.on("GET /api/v1/runs/r1", Answer.problem(503, "{}").with("Retry-After", "0"), Answer.CUT,
                Answer.problem(429, "{}"), Answer.json(RUN));

        assertThat(keelson.runs().get("r1").id()).isEqualTo("r1");
        assertThat(server.requests("GET /api/v1/runs/r1")).hasSize(4);
    }

    @Test
    void repetitionsAreBounded() {
        server.on("GET /api/v1/runs/r1", Answer.problem(503, "{\"code\":\"NOT_READY\"}"));

        KeelsonException refusal = refusal(() -> keelson.runs().get("r1"));

        assertThat(refusal.code()).isEqualTo("NOT_READY");
        assertThat(refusal.isTransient()).isTrue();
        assertThat(server.requests("GET /api/v1/runs/r1")).hasSize(4);
    }

    @Test
    void aPlainWriteIsSentOnceOnly() {
        server.on("POST /api/v1/runs", Answer.problem(503, "{}"));
        server.on("POST /api/v1/runs/r1/approve", Answer.CUT);

        assertThatThrownBy(() -> keelson.api().post("/runs", Json.object())).isInstanceOf(KeelsonException.class);
        assertThat(refusal(() -> keelson.api().post("/runs/r1/approve", null)).code()).isEqualTo("CONNECTION_LOST");
        assertThat(server.requests("POST /api/v1/runs")).hasSize(1);
        assertThat(server.requests("POST /api/v1/runs/r1/approve")).hasSize(1);
    }

    @Test
    void aWriteWithoutAKeyIsRepeatedUnderOneOfItsOwn() {
        server.on("POST /api/v1/runs", Answer.problem(502, "<h1>Bad Gateway</h1>"), Answer.CUT, Answer.json(RUN));
        server.on("POST /api/v1/runs/r1/approve", Answer.CUT, Answer.json(RUN));

        keelson.runs().create(RunRequest.of(Json.object()));
        keelson.runs().approve("r1", null);

        List<String> keys = server.requests("POST /api/v1/runs").stream()
                .map(request -> request.header("Idempotency-key")).toList();
        assertThat(keys).hasSize(3).doesNotContain("");
        assertThat(Set.copyOf(keys)).hasSize(1);
        assertThat(server.requests("POST /api/v1/runs/r1/approve")).hasSize(2)
                .noneMatch(request -> request.header("Idempotency-key").equals(keys.get(0)));
    }

    @Test
    void aWriteWithAKeyIsRepeatedUnderTheSameKey() {
        server.on("POST /api/v1/runs", Answer.CUT, Answer.json(RUN));

        keelson.runs().create(RunRequest.of(Json.object()).start().idempotencyKey("k1"));

        assertThat(server.requests("POST /api/v1/runs"))
                .extracting(request -> request.header("Idempotency-key")).containsExactly("k1", "k1");
    }

    @Test
    void missingServerIsReportedWithItsAddress() {
        server.close();

        KeelsonException refusal = refusal(() -> keelson.runs().approve("r1", null));

        assertThat(refusal.code()).isEqualTo("SERVER_UNREACHABLE");
        assertThat(refusal).hasMessage("no server at " + server.url());
        assertThat(keelson.ready()).isFalse();
    }

    @Test
    void followsThePagesOfAList() {
        server.on("GET /api/v1/runs/r1/tasks",
                Answer.json("{\"items\":[{\"id\":\"t1\",\"key\":\"a\"}],\"next_cursor\":\"c 1\"}"),
                Answer.json("{\"items\":[{\"id\":\"t2\",\"key\":\"b\"}],\"next_cursor\":null}"));

        assertThat(keelson.runs().tasks("r1")).extracting(Task::key).containsExactly("a", "b");
        assertThat(server.requests("GET /api/v1/runs/r1/tasks")).extracting(ScriptedServer.Request::query)
                .containsExactly("", "cursor=c%201");
    }

    @Test
    void listsByFilterOnePageAtATime() {
        server.on("GET /api/v1/runs", Answer.json("{\"items\":[" + RUN + "],\"next_cursor\":\"c1\"}"));

        Page<Run> page = keelson.runs().list(RunQuery.all().state("created").limit(1));

        assertThat(page.nextCursor()).isEqualTo("c1");
        assertThat(page.items()).extracting(Run::id).containsExactly("r1");
        assertThat(server.requests("GET /api/v1/runs").get(0).query()).isEqualTo("state=created&limit=1");
    }

    @Test
    void commandsSendTheirArguments() {
        for (String command : List.of("start", "resume", "cancel", "retry", "approve", "reject")) {
            server.on("POST /api/v1/runs/r1/" + command, Answer.json(RUN));
        }
        keelson.runs().start("r1");
        keelson.runs().resume("r1");
        keelson.runs().cancel("r1", "enough");
        keelson.runs().retry("r1", RetryFrom.START);
        keelson.runs().approve("r1", "fine");
        keelson.runs().reject("r1", null);

        assertThat(body("cancel")).isEqualTo("{\"reason\":\"enough\"}");
        assertThat(body("retry")).isEqualTo("{\"from\":\"start\"}");
        assertThat(body("approve")).isEqualTo("{\"reason\":\"fine\"}");
        assertThat(body("reject")).isEqualTo("{\"reason\":null}");
    }

    @Test
    void streamsAnArtifactOrNamesTheReason() throws IOException {
        Artifact artifact =
                new Artifact("a1", "r1", "t1", "s1", 1, "x.md", "text/markdown", 4, "", Instant.EPOCH, null, null);
        server.on("GET /api/v1/runs/r1/artifacts/a1/content",
                new Answer(200, "# hi", Map.of()), Answer.problem(410, "{\"code\":\"ARTIFACT_EXPIRED\"}"));

        try (InputStream content = keelson.runs().content(artifact)) {
            assertThat(content.readAllBytes()).asString().isEqualTo("# hi");
        }
        assertThat(refusal(() -> keelson.runs().content(artifact)).code()).isEqualTo("ARTIFACT_EXPIRED");
    }

    @Test
    void idsAreEncodedIntoThePath() {
        assertThat(refusal(() -> keelson.runs().get("a/../b c")).status()).isEqualTo(404);
        assertThat(server.requests("GET /api/v1/runs/a%2F..%2Fb%20c")).hasSize(1);
    }

    private String body(String command) {
        return server.requests("POST /api/v1/runs/r1/" + command).get(0).body().toString();
    }

    private static KeelsonException refusal(Runnable call) {
        return catchThrowableOfType(KeelsonException.class, call::run);
    }
}
