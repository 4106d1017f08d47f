package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Event;
import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.AgentRequest;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Agents that delegate tasks to other agents. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DelegationTest {
    private static final DatabaseUrl URL = TestDatabase.createUrl();
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            rules:
              - {when: {model: boss, turn: 1, text: "Count"}, answer: {calls: [{tool: agent_delegate, input: {agent: helper, task: "Count ${ 1 + 1 }", budget_usd: 1, inputs: {path: "${ .run.id }"}}}]}}
              - {when: {model: helper, turn: 1, text: "Count"}, answer: {calls: [{tool: echo, input: {n: 1}}, {tool: noop, input: {}}], usage: {input: 100, output: 100}}}
              - {when: {model: helper, last_tool: noop}, answer: {text: "counted: two", usage: {input: 100, output: 100}}}
              - {when: {model: boss, turn: 1, text: "Chain"}, answer: {calls: [{tool: agent_delegate, input: {agent: boss-two, task: "Middle", budget_usd: 1}}]}}
              - {when: {model: boss, turn: 1, text: "Middle"}, answer: {calls: [{tool: agent_delegate, input: {agent: boss, task: "Deepest", budget_usd: 1}}]}}
              - {when: {model: boss, turn: 1, text: "Deepest"}, answer: {calls: [{tool: agent_delegate, input: {agent: helper, task: "Count", budget_usd: 1}}]}}
              - {when: {model: boss, turn: 1, text: "Wrong"}, answer: {calls: [
                  {tool: agent_delegate, input: {agent: absentee, task: "Count", budget_usd: 1}},
                  {tool: agent_delegate, input: {agent: helper, task: "Count"}},
                  {tool: agent_delegate, input: {agent: poor, task: "Count", budget_usd: 1}},
                  {tool: agent_delegate, input: {agent: helper, task: "Count", budget_usd: 1, inputs: {"": 1}}}]}}
              - {when: {model: boss, turn: 1, text: "More"}, answer: {calls: [{tool: plan_propose, input: {reason: "a1", work: "w"}},
                  {tool: plan_propose, input: {reason: "a2", work: "w"}}, {tool: plan_propose, input: {reason: "a3", work: "w"}},
                  {tool: plan_propose, input: {reason: "a4", work: "w"}}]}}
              - {when: {model: boss, turn: 1, text: "Wait"}, answer: {calls: [{tool: agent_delegate, input: {agent: asker, task: "Inquire", budget_usd: 0.5}}]}}
              - {when: {model: helper, turn: 1, text: "Inquire"}, answer: {calls: [{tool: agent_ask, input: {question: "Which?"}}]}}
              - {when: {model: helper, last_tool: agent_ask}, answer: {text: "asked"}}
              - {answer: {text: "done"}}
            """;

    private Path folder;
    private TestModel model;
    private Server server;
    private Keelson keelson;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        model = new TestModel(SCRIPT);
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  boss: {wire: openai-chat, base_url: "%s", model: boss, family: f, context_tokens: 90000,
                    max_output_tokens: 5000, prices: {input: 1, output: 1}}
                  helper: {wire: openai-chat, base_url: "%s", model: helper, family: f, context_tokens: 90000,
                    max_output_tokens: 5000, prices: {input: 10, output: 10}}
                """.formatted(model.uri("/v1"), model.uri("/v1")));
        serve();
        List<String> all = List.of("agent.delegate", "agent.ask", "echo");
        keelson.agents().create(AgentRequest.of("boss").model("boss").tools(all));
        keelson.agents().create(AgentRequest.of("finder").model("boss").tools(List.of("plan.propose")));
        keelson.agents().create(AgentRequest.of("boss-two").model("boss").tools(all));
        keelson.agents().create(AgentRequest.of("helper").model("helper").tools(List.of("echo", "noop")));
        keelson.agents().create(AgentRequest.of("asker").model("helper").tools(List.of("agent.ask")));
        keelson.agents().create(AgentRequest.of("poor").model("absent").runsOn("server").tools(List.of("echo")));
    }

    private void serve() throws Exception {
        server = ModelServer.start(folder, URL);
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    @AfterAll
    void stop() throws Exception {
        server.close();
        model.close();
    }

    private Run ended(Run run) {
        Run ended = keelson.runs().awaitEnd(run.id(), LIMIT);
        assertThat(ended.state()).isEqualTo("completed");
        return ended;
    }

    private List<String> calls(String run) {
        return steps(run).stream().map(step -> step.tool() + " " + step.state()).toList();
    }

    /** The run's calls. */
    private List<Step> steps(String run) {
        return keelson.runs().steps(run).stream().filter(step -> step.kind().equals("call")).toList();
    }

    private List<Event> events(String run, String type) {
        return keelson.runs().events(run, 0, 500).items().stream().filter(event -> event.eventType().equals(type))
                .toList();
    }

    private InboxItem item(String run) {
        return Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(
                () -> keelson.inbox().list(InboxQuery.all().run(run)).items().stream().findFirst(),
                Optional::isPresent).orElseThrow();
    }

    /** The child of a run, once it exists. */
    private Run child(Run run) {
        return Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(
                () -> keelson.runs().children(run.id()).stream().findFirst(), Optional::isPresent).orElseThrow();
    }

    @Test
    void aDelegatedTaskIsAChildRunWithTheToolsThatBothHave() {
        Run run = ended(keelson.agents().run("boss", "Count", Map.of()));
        Step call = steps(run.id()).getFirst();
        assertThat(call.state()).isEqualTo("completed");
        assertThat(call.output()).isEqualTo(Json.string("counted: two"));

        Run child = keelson.runs().get(child(run).id());
        assertThat(child.goal()).as("a text and no expression").isEqualTo("Count ${ 1 + 1 }");
        assertThat(child.inputs()).isEqualTo(Json.read("{\"path\": \"${ .run.id }\"}"));
        assertThat(child.trigger()).isEqualTo("agent.delegate");
        assertThat(child.parentStepId()).isEqualTo(call.id());
        assertThat(calls(child.id())).containsExactly("echo completed", "noop skipped");
        JsonNode ended = events(run.id(), "child_run_ended").getFirst().payload();
        assertThat(ended.get("child_tokens").asLong()).isEqualTo(child.totalTokens()).isPositive();
        assertThat(new BigDecimal(ended.get("child_charged").asString())).isEqualByComparingTo(child.creditsCharged());
    }

    @Test
    void theSecondDelegateDelegatesNoFurther() {
        Run run = ended(keelson.agents().run("boss", "Chain", Map.of()));
        Run middle = child(run);
        Run deepest = child(middle);
        assertThat(List.of(calls(run.id()), calls(middle.id()), calls(deepest.id()))).containsExactly(
                List.of("agent.delegate completed"), List.of("agent.delegate completed"),
                List.of("agent_delegate skipped"));
        assertThat(steps(deepest.id()).getFirst().errorCode()).isEqualTo("TOOL_NOT_ALLOWED");
        assertThat(keelson.runs().children(deepest.id())).isEmpty();
    }

    @Test
    void aContractorHasNoDelegates() {
        Run run = ended(keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "hires", "plan": {"tasks": [{"id": "a", "title": "Count", "suggested_agent": {"type": "contractor",
                  "agent_name": "temp", "model": "boss", "tools": ["agent.delegate", "echo"]}}]}}""")).start()));
        assertThat(calls(run.id())).containsExactly("agent_delegate skipped");
        assertThat(keelson.runs().children(run.id())).isEmpty();
    }

    @Test
    void badInputIsAnErrorWithPointers() {
        Run run = ended(keelson.agents().run("boss", "Wrong", Map.of()));
        List<Step> calls = steps(run.id());
        assertThat(calls).extracting(Step::state).containsOnly("failed");
        assertThat(calls).extracting(Step::errorCode).containsExactly("DELEGATION_INVALID", "TOOL_INPUT_INVALID",
                "DELEGATION_INVALID", "DELEGATION_INVALID");
        assertThat(calls.get(0).errorMessage()).contains("/agent: the roster has no agent 'absentee'", "helper");
        assertThat(calls.get(1).errorMessage()).contains("'budget_usd'");
        assertThat(calls.get(2).errorMessage()).contains("/agent: ", "MODEL_NOT_CONFIGURED");
        assertThat(calls.get(3).errorMessage()).contains("/inputs/: ");
        assertThat(keelson.runs().children(run.id())).isEmpty();
    }

    @Test
    void theChildHasAnAllotmentOfItsParentsLimit() {
        Run run = keelson.runs()
                .create(RunRequest
                        .of(Json.read(
                                """
                {"name": "count", "agent_slug": "boss", "goal": "Count", "config": {"budget": {"hard_limit_usd": 0.02}}}"""))
                        .start());
        Run child = child(run);
        Awaitility.await().atMost(LIMIT).until(() -> keelson.runs().get(child.id()).state().equals("budget_exceeded"));
        BigDecimal allotted = new BigDecimal(events(run.id(), "child_run_started").getFirst().payload()
                .get("allotment").stringValue());
        assertThat(allotted).isPositive().isLessThan(new BigDecimal("0.02"));
        assertThat(keelson.runs().get(child.id()).creditsCharged()).isLessThanOrEqualTo(allotted);
        assertThat(keelson.runs().get(run.id()).state()).isEqualTo("running");
        keelson.runs().cancel(run.id(), null);
    }

    @Test
    void aWaitSurvivesARestartAndHoldsNoLease() throws Exception {
        Run run = keelson.agents().run("boss", "Wait", Map.of());
        Run child = child(run);
        item(child.id());
        Step call = steps(run.id()).getFirst();
        assertThat(call.state()).isEqualTo("waiting");
        assertThat(call.leaseEpoch()).as("never claimed").isZero();
        assertThat(keelson.runs().explain(run.id()).reasons()).extracting(Explanation.Reason::code)
                .contains("CHILD_RUN");

        server.close();
        serve();
        keelson.inbox().answer(item(child.id()).id(), Json.string("that one"), null);
        ended(run);
        assertThat(steps(run.id()).getFirst().output()).isEqualTo(Json.string("asked"));
        assertThat(keelson.runs().children(run.id())).hasSize(1);
    }

    @Test
    void cancellingTheParentCancelsTheChild() {
        Run run = keelson.agents().run("boss", "Wait", Map.of());
        Run child = child(run);
        item(child.id());
        keelson.runs().cancel(run.id(), "enough");
        assertThat(keelson.runs().awaitEnd(child.id(), LIMIT).state()).isEqualTo("cancelled");
    }

    @Test
    void anAcceptedProposalHasThePlannerMakeANewPlan() {
        Run run = keelson.runs().create(RunRequest.of(Json.read("""
                {"goal": "More", "config": {"planner": {"tool": "echo", "input": {"tasks": [
                   {"id": "further", "steps": [{"tool": "echo", "input": {"text": "w"}}]}]}}},
                 "plan": {"tasks": [{"id": "find", "title": "Find", "suggested_agent": {"agent_name": "finder"}},
                   {"id": "last", "depends_on": ["find"], "steps": [{"kind": "approval"}]}]}}""")).start());
        List<InboxItem> waiting = Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(
                () -> keelson.inbox().list(InboxQuery.all().run(run.id())).items(),
                items -> items.stream().anyMatch(item -> item.kind().equals("approval_step")));
        List<InboxItem> proposals = waiting.stream().filter(item -> item.kind().equals("proposal")).toList();
        assertThat(proposals.getFirst().onAccept()).contains("new plan");

        keelson.inbox().accept(proposals.getFirst().id(), "sensible");
        Run ended = ended(run);
        assertThat(ended.planVersion()).isEqualTo(2);
        assertThat(events(run.id(), "run_replanning").getFirst().payload().get("reason").stringValue())
                .isEqualTo("a1\n\nw\n\nsensible");
        assertThat(keelson.runs().tasks(run.id())).anyMatch(task -> task.key().equals("further")
                && task.state().equals("completed"));
        assertThatThrownBy(() -> keelson.inbox().accept(proposals.getLast().id(), "too late"))
                .hasMessageContaining("INVALID_STATE_TRANSITION");
        keelson.inbox().reject(proposals.getLast().id(), "too late");
    }

    @Test
    void aChangeOfThePlanIsProposedAFewTimesAndChangesNothing() {
        Run run = ended(keelson.agents().run("finder", "More", Map.of()));
        assertThat(calls(run.id())).containsExactly("plan.propose completed", "plan.propose completed",
                "plan.propose completed", "plan.propose skipped");
        assertThat(keelson.inbox().list(InboxQuery.all().run(run.id())).items()).hasSize(3)
                .allMatch(item -> item.kind().equals("proposal"));
        assertThat(run.planVersion()).isEqualTo(1);
        assertThat(keelson.runs().get(run.id()).taskCount()).isEqualTo(1);
    }
}
