package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.AgentRequest;
import io.keelson.client.ForkRequest;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.client.worker.Worker;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Agents' calls that wait for a person, and agents' questions to people. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class CallApprovalTest {
    private static final DatabaseUrl URL = TestDatabase.createUrl();
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            rules:
              - {when: {text: "Again", turn: 1}, answer: {calls: [{tool: pay, input: {sum: 5}}]}}
              - {when: {model: m, last_tool: pay, turn: 2}, answer: {calls: [{tool: pay, input: {sum: 6}}]}}
              - {when: {model: m, last_tool: pay, turn: 3}, answer: {calls: [{tool: pay, input: {sum: 5}}]}}
              - {when: {text: "Ask badly", turn: 1}, answer: {calls: [{tool: agent_ask, input: {q: "Which?"}},
                  {tool: agent_ask, input: {question: "Which?", schema: {type: object, properties: {n: {type: nonsense}}}}}]}}
              - {when: {text: "Pay", turn: 1}, answer: {calls: [{tool: pay, input: {sum: 5, note: "${ 1 + 1 }"}}, {tool: echo, input: {n: 1}}]}}
              - {when: {text: "Buy", turn: 1}, answer: {calls: [{tool: buy, input: {sum: 5}}, {tool: buy, input: {sum: 500}}, {tool: buy, input: {sum: many}}]}}
              - {when: {text: "Fetch", turn: 1}, answer: {calls: [{tool: echo, input: {n: 1}}, {tool: process_run, input: {program: none}}, {tool: pay, input: {sum: 1}}]}}
              - {when: {model: outside, last_tool: pay, turn: 2}, answer: {calls: [{tool: echo, input: {n: 2}}, {tool: pay, input: {sum: 2}}]}}
              - {when: {text: "Run", turn: 1}, answer: {calls: [{tool: process_run, input: {program: rm}}]}}
              - {when: {text: "Ask", turn: 1}, answer: {calls: [{tool: agent_ask, input: {question: "Which colour?",
                  schema: {type: object, required: [colour], properties: {colour: {enum: [red, blue]}}}}}]}}
              - {answer: {text: "done"}}
            """;

    private final Queue<JsonNode> paid = new ConcurrentLinkedQueue<>();
    private Path folder;
    private TestModel model;
    private Server server;
    private Keelson keelson;
    private Worker worker;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        model = new TestModel(SCRIPT);
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  small: {wire: openai-chat, base_url: "%s", model: m, family: f, context_tokens: 90000,
                    max_output_tokens: 5000, prices: {input: 1, output: 1}}
                  outside: {wire: openai-chat, base_url: "%s", model: outside, family: f, context_tokens: 90000,
                    max_output_tokens: 5000, prices: {input: 1, output: 1}}
                """.formatted(model.uri("/v1"), model.uri("/v1")));
        serve();
        keelson.agents().create(AgentRequest.of("payer").model("small").tools(List.of("pay", "echo"))
                .approval("pay", "always"));
        keelson.agents().create(AgentRequest.of("buyer").model("small").tools(List.of("buy"))
                .approvalWhen("buy", ".sum + 0 > 100"));
        keelson.agents().create(AgentRequest.of("fetcher").model("outside")
                .tools(List.of("pay", "echo", "process.run")).approval("*", "tainted")
                .approval("process.run", "never"));
        keelson.agents().create(AgentRequest.of("runner").model("small").tools(List.of("process.run")));
        keelson.agents().create(AgentRequest.of("asker").model("small").tools(List.of("agent.ask")));
    }

    private void serve() throws Exception {
        server = ModelServer.start(folder, URL);
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
        worker = Worker.builder(keelson).tool("pay", step -> {
            paid.add(step.input());
            return Map.of("paid", true);
        }).tool("buy", step -> Map.of("bought", true)).build();
        worker.start();
    }

    private void close() throws Exception {
        worker.close();
        server.close();
    }

    @AfterAll
    void stop() throws Exception {
        close();
        model.close();
    }

    private InboxItem item(Run run) {
        return Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(
                () -> keelson.inbox().list(InboxQuery.all().run(run.id())).items().stream().findFirst(),
                Optional::isPresent).orElseThrow();
    }

    private Run ended(Run run) {
        Run ended = keelson.runs().awaitEnd(run.id(), LIMIT);
        assertThat(ended.state()).isEqualTo("completed");
        return ended;
    }

    private List<String> calls(Run run) {
        return keelson.runs().steps(run.id()).stream().filter(step -> !step.tool().equals("model.turn"))
                .map(step -> step.tool() + " " + step.state()).toList();
    }

    /** The last request to the model. */
    private String request() throws Exception {
        return model.journal().getLast().get("body").toString();
    }

    @Test
    void anApprovedCallIsMadeOnceWithTheInputThatWasShown() throws Exception {
        paid.clear();
        Run run = keelson.agents().run("payer", "Pay", Map.of());
        InboxItem item = item(run);

        assertThat(item.kind()).isEqualTo("call_approval");
        assertThat(item.data().get("tool").stringValue()).isEqualTo("pay");
        assertThat(item.data().get("input")).isEqualTo(Json.read("{\"sum\": 5, \"note\": \"${ 1 + 1 }\"}"));
        assertThat(item.data().get("input_sha256").stringValue()).hasSize(64);
        assertThat(calls(run)).containsExactly("pay waiting_approval", "echo pending");
        assertThat(paid).isEmpty();

        close();
        serve();
        assertThat(keelson.inbox().accept(item.id(), "fine").decision()).isEqualTo("accepted");
        keelson.inbox().accept(item.id(), "fine");
        ended(run);
        assertThat(calls(run)).containsExactly("pay completed", "echo completed");
        assertThat(paid).containsExactly(Json.read("{\"sum\": 5, \"note\": \"${ 1 + 1 }\"}"));
        assertThat(catchThrowableOfType(KeelsonException.class, () -> keelson.inbox().reject(item.id(), null)).code())
                .isEqualTo("APPROVAL_ALREADY_DECIDED");
    }

    @Test
    void changedInputIsCalledAndShownToTheModel() throws Exception {
        paid.clear();
        Run run = keelson.agents().run("payer", "Pay less", Map.of());
        keelson.inbox().accept(item(run).id(), (ObjectNode) Json.read("{\"sum\": 2, \"note\": \"${ 3 }\"}"), null);
        ended(run);

        assertThat(paid).containsExactly(Json.read("{\"sum\": 2, \"note\": \"${ 3 }\"}"));
        assertThat(request()).contains("A person changed the input of this call to", "${ 3 }");
    }

    @Test
    void aDestructiveCallWaitsByDefaultAndARejectionIsItsResult() throws Exception {
        Run run = keelson.agents().run("runner", "Run", Map.of());
        InboxItem item = item(run);
        assertThat(item.kind()).isEqualTo("call_approval");
        keelson.inbox().reject(item.id(), "never remove files");
        ended(run);

        assertThat(calls(run)).containsExactly("process.run failed");
        assertThat(request()).contains("CALL_REJECTED", "never remove files");
    }

    @Test
    void conditionOnTheInputDecidesAndAFailingConditionAsks() {
        Run run = keelson.agents().run("buyer", "Buy", Map.of());
        InboxItem large = item(run);
        assertThat(large.data().get("input")).isEqualTo(Json.read("{\"sum\": 500}"));
        assertThat(large.data().get("reason").stringValue()).isEqualTo("condition");
        assertThat(large.data().get("detail").stringValue()).isEqualTo(".sum + 0 > 100");
        assertThat(calls(run)).containsExactly("buy completed", "buy waiting_approval", "buy pending");
        assertThat(keelson.runs().explain(run.id()).reasons()).extracting(Explanation.Reason::text)
                .anyMatch(text -> text.contains("this condition holds for the input: .sum + 0 > 100"));
        keelson.inbox().accept(large.id(), null);

        InboxItem failed = Awaitility.await().atMost(LIMIT).until(() -> item(run),
                item -> !item.id().equals(large.id()));
        assertThat(failed.data().get("reason").stringValue()).isEqualTo("condition_failed");
        assertThat(failed.data().get("detail").stringValue()).startsWith(".sum + 0 > 100: ");
        keelson.inbox().reject(failed.id(), null);
        ended(run);
        assertThat(calls(run)).containsExactly("buy completed", "buy completed", "buy failed");
        assertThat(keelson.runs().events(run.id(), 0, 500).items().stream()
                .filter(event -> event.eventType().equals("step_approval_requested"))
                .map(event -> event.payload().get("reason").stringValue())).containsExactly("condition",
                        "condition_failed");
    }

    @Test
    void afterDataFromOutsideCallsWithEffectsWait() {
        Run run = keelson.agents().run("fetcher", "Fetch", Map.of());
        InboxItem item = item(run);
        assertThat(calls(run)).containsExactly("echo completed", "process.run failed", "pay completed",
                "echo completed", "pay waiting_approval");
        assertThat(item.data().get("reason").stringValue()).isEqualTo("tainted");
        assertThat(item.data().get("detail").stringValue()).isEqualTo("process.run");
        keelson.inbox().accept(item.id(), null);
        ended(run);
    }

    @Test
    void aForkAsksAsItsSourceDid() {
        Run source = keelson.agents().run("fetcher", "Fetch", Map.of());
        keelson.inbox().accept(item(source).id(), null);
        ended(source);
        Run fork = keelson.runs().fork(source.id(), ForkRequest.from(task(source)).turn(2));
        InboxItem item = item(fork);
        assertThat(item.data().get("reason").stringValue()).isEqualTo("tainted");
        assertThat(item.data().get("detail").stringValue()).isEqualTo("untrusted_input");
        assertThat(calls(fork)).containsExactly("echo completed", "pay waiting_approval");
        keelson.inbox().accept(item.id(), null);
        ended(fork);
    }

    @Test
    void aForkWithOtherInstructionsKeepsTheRulesOfTheAgent() {
        Run source = keelson.agents().run("payer", "Pay", Map.of());
        keelson.inbox().accept(item(source).id(), null);
        ended(source);
        Run fork = keelson.runs().fork(source.id(), ForkRequest.from(task(source)).instructions("Be exact."));
        InboxItem item = item(fork);
        assertThat(item.data().get("reason").stringValue()).isEqualTo("always");
        keelson.inbox().accept(item.id(), null);
        ended(fork);
    }

    private String task(Run run) {
        return keelson.runs().tasks(run.id()).getFirst().key();
    }

    @Test
    void tasksBehindDataFromOutsideAreMarkedInThePlan() {
        Run run = keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "behind", "plan": {"tasks": [
                  {"id": "pay", "depends_on": ["between"], "suggested_agent": {"agent_name": "payer"}},
                  {"id": "between", "depends_on": ["run"], "steps": [{"tool": "echo", "input": {}}]},
                  {"id": "run", "steps": [{"tool": "process.run", "input": {"argv": ["none"]}}]},
                  {"id": "after", "depends_on": [{"task": "run", "type": "ordering"}], "suggested_agent": {"agent_name": "payer"}},
                  {"id": "named", "depends_on": [{"task": "run", "type": "ordering"}],
                    "steps": [{"tool": "echo", "input": {"v": "${ .tasks.run.output }"}}]},
                  {"id": "far", "depends_on": [{"task": "after", "type": "ordering"}], "for_each": "${ .tasks.run.output }",
                    "suggested_agent": {"agent_name": "payer"}},
                  {"id": "any", "depends_on": [{"task": "run", "type": "ordering"}],
                    "steps": [{"tool": "echo", "input": {"v": "${ .tasks | keys }"}}]},
                  {"id": "behind", "depends_on": ["named"], "suggested_agent": {"agent_name": "payer"}},
                  {"id": "hand", "steps": [{"tool": "process.run", "input": {"argv": ["none"]}},
                    {"tool": "run.start", "input": {"plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}}]},
                  {"id": "report", "depends_on": ["fetch"], "suggested_agent": {"agent_name": "payer"}},
                  {"id": "fetch", "suggested_agent": {"agent_name": "fetcher"}}]}}""")));
        assertThat(keelson.runs().get(run.id()).plan().get("tasks").valueStream()
                .filter(task -> task.path("untrusted_input").asBoolean(false))
                .map(task -> task.get("temp_id").stringValue())).containsExactlyInAnyOrder("pay", "between", "report",
                        "named", "far", "any", "behind", "hand");
    }

    @Test
    void theTasksOfAChildRunWithUntrustedInputsAreMarked() {
        for (String untrusted : List.of("true", "false")) {
            Run parent = keelson.runs()
                    .create(RunRequest.of(Json
                            .read("""
                    {"name": "hand over", "plan": {"tasks": [{"id": "hand", "untrusted_input": %s, "steps": [
                      {"tool": "run.start", "input": {"inputs": {"text": "from outside"}, "config": {"untrusted_input": false},
                        "plan": {"tasks": [{"id": "echo", "steps": [{"tool": "echo", "input": {"v": "${ .inputs.text }"}}]}]}}}]}]}}"""
                                    .formatted(untrusted)))
                            .start());
            ended(parent);
            Run child = keelson.runs().children(parent.id()).getFirst();
            assertThat(keelson.runs().get(child.id()).plan().at("/tasks/0/untrusted_input").asBoolean(false))
                    .isEqualTo(Boolean.parseBoolean(untrusted));
        }
    }

    @Test
    void aTasksRulesHoldFromItsFirstTurnWhereItsInputIsUntrusted() {
        Run run = keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "untrusted", "plan": {"tasks": [{"id": "pay", "title": "Pay", "untrusted_input": true,
                  "suggested_agent": {"type": "contractor", "model": "small", "tools": ["pay", "echo"]},
                  "limits": {"approvals": {"*": "tainted"}}}]}}""")).start());
        InboxItem item = item(run);
        assertThat(item.data().get("reason").stringValue()).isEqualTo("tainted");
        assertThat(item.data().get("detail").stringValue()).isEqualTo("untrusted_input");
        keelson.inbox().accept(item.id(), null);
        ended(run);
        assertThat(calls(run)).containsExactly("pay completed", "echo completed");
    }

    @Test
    void aConditionThatIsNoExpressionIsRefused() {
        assertThat(catchThrowableOfType(KeelsonException.class, () -> keelson.agents().create(
                AgentRequest.of("wrong").approvalWhen("a/b", ".sum >"))).problems().getFirst().pointer())
                .isEqualTo("/limits/approvals/a~1b/when");
        assertThat(catchThrowableOfType(KeelsonException.class,
                () -> keelson.runs()
                        .create(RunRequest.of(Json
                                .read("""
                {"name": "wrong", "plan": {"tasks": [{"id": "a", "limits": {"approvals": {"pay": ["always", {"when": "("}]}}}]}}"""))))
                .problems().getFirst().pointer()).isEqualTo("/plan/tasks/0/limits/approvals/pay/1/when");
    }

    @Test
    void aQuestionWaitsForAnAnswerThatFitsItsSchema() throws Exception {
        Run run = keelson.agents().run("asker", "Ask", Map.of());
        InboxItem item = item(run);
        assertThat(item.kind()).isEqualTo("question");
        assertThat(item.question()).isEqualTo("Which colour?");
        Step step = keelson.runs().steps(run.id()).get(1);
        assertThat(step.state()).isEqualTo("waiting_approval");

        close();
        serve();
        KeelsonException wrong = catchThrowableOfType(KeelsonException.class,
                () -> keelson.inbox().answer(item.id(), Json.read("{\"colour\": \"green\"}"), null));
        assertThat(wrong.problems().getFirst().pointer()).isEqualTo("/answer/colour");
        assertThat(catchThrowableOfType(KeelsonException.class, () -> keelson.inbox().accept(item.id(), null)).code())
                .isEqualTo("ANSWER_REQUIRED");
        keelson.inbox().answer(item.id(), Json.read("{\"colour\": \"blue\"}"), "it is nicer");
        ended(run);

        assertThat(keelson.runs().steps(run.id()).get(1).state()).isEqualTo("completed");
        assertThat(request()).contains("blue");
    }

    @Test
    void aQuestionThatCannotBeAnsweredIsAnErrorWithPointersForTheModel() throws Exception {
        Run run = ended(keelson.agents().run("asker", "Ask badly", Map.of()));
        assertThat(calls(run)).containsExactly("agent.ask skipped", "agent.ask skipped");
        assertThat(request()).contains("TOOL_INPUT_INVALID", "required property 'question'",
                "/schema/properties/n/type");
    }

    @Test
    void aQuestionIsStillOpenAfterADayWithoutAServer() throws Exception {
        Run run = keelson.agents().run("asker", "Ask again", Map.of());
        InboxItem asked = item(run);
        close();
        aDayPasses();
        serve();
        InboxItem item = item(run);
        assertThat(item.id()).isEqualTo(asked.id());
        assertThat(Duration.between(item.createdAt(), asked.createdAt())).isEqualTo(Duration.ofDays(1));
        assertThat(catchThrowableOfType(KeelsonException.class,
                () -> keelson.inbox().answer(item.id(), Json.read("{\"colour\": 7}"), null)).problems().getFirst()
                .pointer()).isEqualTo("/answer/colour");
        keelson.inbox().answer(item.id(), Json.read("{\"colour\": \"red\"}"), null);
        ended(run);
        assertThat(keelson.runs().steps(run.id()).get(1).attempt()).as("no execution").isZero();
    }

    /** Moves the times of runs by a day into the past, as if the clock had moved on by one. */
    private static void aDayPasses() throws SQLException {
        try (Database database = new Database(URL, DatabaseOptions.DEFAULTS.withPoolSize(1));
                Connection c = database.dedicatedConnection(); Statement statement = c.createStatement()) {
            statement.execute("""
                    do $$ declare moved record; begin
                    for moved in select table_name as name,
                            string_agg(format('%1$I = %1$I - make_interval(days => 1)', column_name), ', ') as times
                        from information_schema.columns
                        where table_schema = current_schema() and data_type = 'timestamp with time zone'
                         and table_name in ('orchestration_runs', 'run_heads', 'run_attempts', 'run_agents', 'timers',
                            'orchestration_tasks', 'task_steps', 'work_queue', 'engine_nodes', 'engine_outages')
                        group by table_name loop
                        execute format('update %I set %s', moved.name, moved.times);
                    end loop; end $$""");
        }
    }

    private Run paying(String onTimeout) {
        return keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "p", "start": true, "config": {"human_timeout_seconds": 1, "on_human_timeout": "%s"}, "plan": {"tasks": [
                 {"id": "t", "title": "Pay in time", "suggested_agent": {"agent_name": "payer"}}]}}"""
                .formatted(onTimeout))));
    }

    @Test
    void aCallWithoutAnAnswerInTimeIsDecidedByTheRunsRule() {
        paid.clear();
        assertThat(calls(ended(paying("approve")))).containsExactly("pay completed", "echo completed");
        assertThat(paid).hasSize(1);
        assertThat(calls(ended(paying("fail")))).containsExactly("pay failed", "echo completed");
        assertThat(paid).hasSize(1);
    }

    @Test
    void eachFurtherCallNeedsAnApprovalOfItsOwn() {
        paid.clear();
        Run run = keelson.agents().run("payer", "Again", Map.of());
        for (int i = 0; i < 3; i++) {
            int made = i;
            Awaitility.await().atMost(LIMIT).untilAsserted(() -> assertThat(calls(run)).hasSize(made + 1)
                    .last().isEqualTo("pay waiting_approval"));
            assertThat(paid).hasSize(made);
            keelson.inbox().accept(item(run).id(), null);
        }
        ended(run);
        assertThat(paid.stream().map(each -> each.get("sum").intValue())).containsExactly(5, 6, 5);
    }
}
