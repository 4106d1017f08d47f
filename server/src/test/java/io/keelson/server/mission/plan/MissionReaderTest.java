package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.Budget;
import io.keelson.core.plan.Autonomy;
import io.keelson.core.plan.Concurrency;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Hooks;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.Models;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MissionReaderTest {
    /** The specification's example (api, "Mission file") with its ellipses filled in. */
    private static final String EXAMPLE = """
            name: repository-report
            goal: Describe the repository at a path
            inputs:                       # declared, typed by JSON Schema, with defaults
              path: {type: string, default: "."}
            config: {autonomy: {level: full_auto}, budget: {hard_limit_usd: 1}}
            plan:
              tasks:
                - id: inventory           # PRD-101's temp_id
                  title: Take inventory
                  task_type: analysis
                  steps:
                    - {name: list, tool: files.list, input: {path: "${ .inputs.path }"}}
                - id: report
                  depends_on: [inventory]           # or {task, type: data|ordering}
                  trigger_rule: all_success
                  failure_mode: fail_fast
                  when: "${ .inputs.path != \\"\\" }"
                  verify: [{kind: required_sections, sections: [Summary]}]
                  steps:
                    - {name: sign-off, kind: approval, input: {question: "Publish?"}}
                    - {name: write, tool: artifact.write, input: {name: report.md, content: "${ .tasks.inventory.output }"}, retry: {max_attempts: 5}, timeout_seconds: 30}
                  success_criteria: It has a summary
            output: "${ .tasks.report.output }"
            """;
    private static final String MINIMAL = "{\"name\": \"m\", \"plan\": {\"tasks\": [%s]}}";

    @Test
    void theSpecificationsExampleIsRead() {
        CheckedMission mission = Missions.yaml(EXAMPLE);

        assertThat(mission.name()).isEqualTo("repository-report");
        assertThat(mission.goal()).isEqualTo("Describe the repository at a path");
        assertThat(mission.priority()).isEqualTo(100);
        assertThat(mission.start()).isFalse();
        FailureRules rules = RunPolicy.DEFAULT.failures();
        assertThat(mission.policy()).as("full_auto asks no person").isEqualTo(RunPolicy.DEFAULT.with(new FailureRules(
                rules.run(), rules.agent(), rules.task(), rules.level(), EscalationPolicy.OFF, null, 2, false, false))
                .with(Budget.upTo(BigDecimal.ONE))
                .with(new HumanRules(false, Duration.ofHours(24), HumanRules.OnTimeout.REMIND, Autonomy.FULL_AUTO)));
        assertThat(mission.output()).isEqualTo("\"${ .tasks.report.output }\"");
        assertThat(mission.input()).hasToString("{\"path\":\".\"}");
        assertThat(mission.config())
                .hasToString("{\"autonomy\":{\"level\":\"full_auto\"},\"budget\":{\"hard_limit_usd\":1}}");
        TaskSpec report = mission.plan().tasks().get(1);
        assertThat(report).isEqualTo(new TaskSpec("report", "report", null, TaskType.OTHER, null,
                List.of(new Dependency("inventory", true)), TriggerRule.ALL_SUCCESS, "${ .inputs.path != \"\" }", null,
                null, false, report.steps(), "It has a summary",
                new TaskPolicy(FailureMode.FAIL_FAST, null, List.of(new StepSpec("verify-1", StepKind.VERIFY,
                        "verify.sections", "{\"output\":\"${ .task.output }\",\"sections\":[\"Summary\"]}",
                        RetryPolicy.STEP, Duration.ofSeconds(30))), false, null)));
        assertThat(report.steps()).containsExactly(
                new StepSpec("sign-off", StepKind.APPROVAL, "approval", "{\"question\":\"Publish?\"}", RetryPolicy.STEP,
                        Duration.ofDays(365)),
                new StepSpec("write", StepKind.TOOL, "artifact.write",
                        "{\"name\":\"report.md\",\"content\":\"${ .tasks.inventory.output }\"}",
                        new RetryPolicy(5, 5, Duration.ofMillis(100), Duration.ofSeconds(30), 2, 0.1),
                        Duration.ofSeconds(30)));
    }

    @Test
    void yamlAndJsonOfTheSameShapeAreTheSameMission() {
        ReadResult<JsonNode> tree = Documents.read(EXAMPLE.getBytes(StandardCharsets.UTF_8), Format.YAML);
        String json = ((ReadResult.Ok<JsonNode>) tree).value().toString();

        assertThat(Missions.json(json)).isEqualTo(Missions.yaml(EXAMPLE));
        assertThat(Missions.yaml(json)).as("JSON is YAML").isEqualTo(Missions.yaml(EXAMPLE));
    }

    @Test
    void thePlanAsStoredHasTheFormOfPrd101AndReadsAsTheSamePlan() {
        CheckedMission mission = Missions.yaml(EXAMPLE);

        assertThat(mission.planJson()).isEqualTo(JsonMapper.shared().readTree("""
                {"version": 1, "strategy": "mixed", "tasks": [
                  {"temp_id": "inventory", "title": "Take inventory", "task_type": "analysis", "depends_on": [],
                   "trigger_rule": "all_success", "steps": [
                     {"name": "list", "kind": "tool", "tool": "files.list", "input": {"path": "${ .inputs.path }"}}]},
                  {"temp_id": "report", "title": "report", "task_type": "other", "depends_on": ["inventory"],
                   "trigger_rule": "all_success", "failure_mode": "fail_fast", "when": "${ .inputs.path != \\"\\" }",
                   "verify": [{"kind": "required_sections", "sections": ["Summary"]}],
                   "success_criteria": "It has a summary", "steps": [
                     {"name": "sign-off", "kind": "approval", "tool": "approval", "input": {"question": "Publish?"}},
                     {"name": "write", "kind": "tool", "tool": "artifact.write", "retry": {"max_attempts": 5},
                      "timeout_seconds": 30,
                      "input": {"name": "report.md", "content": "${ .tasks.inventory.output }"}}]}]}"""));
        CheckedMission again =
                Missions.json("{\"name\": \"again\", \"inputs\": {\"path\": {\"default\": \".\"}}, \"plan\": "
                        + mission.planJson() + "}");
        assertThat(again.plan()).isEqualTo(mission.plan());
        assertThat(again.planJson()).isEqualTo(mission.planJson());
    }

    @Test
    void expressionMayHaveWhiteSpaceAround() {
        TaskSpec task = Missions.yaml("""
                name: m
                plan:
                  tasks:
                    - id: a
                      when: |
                        ${ true }
                      for_each: >

                        ${ [1, 2] }
                      steps: [{tool: noop}]
                """).plan().tasks().getFirst();

        assertThat(task.when()).isEqualTo("${ true }\n");
        assertThat(task.forEach()).isEqualTo("\n${ [1, 2] }\n");
    }

    @Test
    void aPlanOfNoTasksIsFine() {
        assertThat(Missions.json(MINIMAL.formatted("")).plan().tasks()).isEmpty();
    }

    @Test
    void aTaskWithoutStepsIsAnAgentsTurn() {
        CheckedMission mission = Missions.json(MINIMAL.formatted("""
                {"id": "a.1"}, {"id": "b"},
                {"id": "c", "title": "Write it up", "description": "In ${ .inputs | length } words",
                 "success_criteria": "short", "suggested_model": "large", "tools_needed": ["files.read"],
                 "inputs": {"style": "plain"}, "suggested_agent": {"type": "roster", "agent_id": 3, "agent_name": "ann"},
                 "depends_on": ["a.1", {"task": "b", "type": "ordering"}]}"""));
        TaskSpec task = mission.plan().tasks().get(2);

        assertThat(task.agent()).isEqualTo("ann");
        StepSpec turn = task.steps().getFirst();
        assertThat(turn.name()).isEqualTo("turn");
        assertThat(turn.kind()).isEqualTo(StepKind.TURN);
        assertThat(turn.tool()).isEqualTo("agent.turn");
        assertThat(turn.timeout()).isEqualTo(StepSpec.OF_TASK);
        assertThat(JsonMapper.shared().readTree(turn.input())).isEqualTo(JsonMapper.shared().readTree("""
                {"goal": "${ .run.goal }", "title": "Write it up", "description": "In ${ .inputs | length } words",
                 "success_criteria": "short", "model": "large", "tools": ["files.read"], "inputs": {"style": "plain"},
                 "upstream": {"a.1": "${ .tasks[\\"a.1\\"].output }"}, "transcript": "${ .transcript }",
                 "feedback": "${ .task.failure }"}"""));
        assertThat(Missions.TOOLS.namesInTemplate(turn.input()).tasks()).containsExactly("a.1");
        assertThat(mission.planJson().at("/tasks/2/steps")).isEmpty();
    }

    @Test
    void stepsHaveTheirKindsNamesAndTimeouts() {
        List<StepSpec> steps = Missions.json(MINIMAL.formatted("""
                {"id": "a", "parallelism": "parallel", "steps": [
                  {"tool": "noop"}, {"tool": "wait", "input": {"seconds": 90}}, {"kind": "turn"},
                  {"tool": "agent.turn"}, {"kind": "approval"}, {"tool": "translate", "timeout_seconds": 0.5}]}"""))
                .plan().tasks().getFirst().steps();

        assertThat(steps).extracting(StepSpec::name).containsExactly("step-1", "step-2", "step-3", "step-4", "step-5",
                "step-6");
        assertThat(steps).extracting(StepSpec::kind).containsExactly(StepKind.TOOL, StepKind.WAIT, StepKind.TURN,
                StepKind.TURN, StepKind.APPROVAL, StepKind.TOOL);
        assertThat(steps).extracting(step -> step.timeout().toMillis()).containsExactly(30_000L,
                Duration.ofDays(367).toMillis(), 0L, 0L, Duration.ofDays(365).toMillis(), 500L);
    }

    @Test
    void retriesAreNumbersOrAPresetWithChanges() {
        List<StepSpec> steps = Missions.json(MINIMAL.formatted("""
                {"id": "a", "steps": [
                  {"tool": "noop", "retry": {"preset": "lifecycle"}},
                  {"tool": "noop", "retry": {"preset": "gate4", "base_delay_seconds": 2}},
                  {"tool": "noop", "retry": {"preset": "gate4", "max_attempts": 7}},
                  {"tool": "noop", "retry": {"max_attempts": 9, "max_failures": 4, "base_delay_seconds": 0,
                   "max_delay_seconds": 7.5, "factor": 3, "jitter": 0, "max_elapsed_seconds": 90}}]}"""))
                .plan().tasks().getFirst().steps();

        assertThat(steps).extracting(StepSpec::retry).containsExactly(RetryPolicy.preset("lifecycle").orElseThrow(),
                new RetryPolicy(3, 3, Duration.ofSeconds(2), Duration.ofSeconds(30), 2, 0),
                new RetryPolicy(7, 7, Duration.ofSeconds(1), Duration.ofSeconds(30), 2, 0),
                new RetryPolicy(9, 4, Duration.ZERO, Duration.ofMillis(7_500), 3, 0, Duration.ofSeconds(90)));
    }

    @Test
    void taskShowsItsFailureMode() {
        CheckedMission mission = Missions.yaml("""
                name: m
                config: {retry: {backoff_base_seconds: 1, backoff_max_seconds: 5}}
                plan:
                  tasks:
                    - {id: plain}
                    - {id: own, failure_mode: retry, retry: {max_attempts: 2}, timeout_seconds: 90, verify: [{kind: human}]}
                """);

        assertThat(mission.plan().tasks()).extracting(TaskSpec::policy).containsExactly(TaskPolicy.DEFAULT,
                new TaskPolicy(FailureMode.RETRY,
                        new RetryPolicy(2, 2, Duration.ofSeconds(1), Duration.ofSeconds(5), 2, 0), List.of(), true,
                        Duration.ofSeconds(90)));
        assertThat(new StoredPlans(tool -> Duration.ofSeconds(30)).read(mission.planJson().toString()))
                .as("a stored plan needs no config to be read").isEqualTo(mission.plan());
    }

    @Test
    void verificationsAreCallsOfVerifyingTools() {
        TaskSpec task = Missions.yaml("""
                name: m
                plan:
                  tasks:
                    - id: a
                      verify:
                        - {kind: json_schema, schema: {type: object}}
                        - {kind: jq, expression: ".a > 1", feedback: too small, output: "${ .task.output.b }"}
                        - {kind: regex, pattern: bad, absent: true, retry: {max_attempts: 1}}
                        - {kind: required_sections, sections: [One, Two], timeout_seconds: 5}
                        - {kind: tool, tool: translate, input: {to: de}}
                        - {kind: human}
                """).plan().tasks().getFirst();

        assertThat(task.policy().review()).isTrue();
        assertThat(task.policy().verify()).extracting(StepSpec::kind).containsOnly(StepKind.VERIFY);
        assertThat(task.policy().verify()).extracting(step -> step.name() + " " + step.tool() + " " + step.input())
                .containsExactly(
                        "verify-1 verify.json_schema {\"output\":\"${ .task.output }\",\"schema\":{\"type\":\"object\"}}",
                        "verify-2 verify.jq {\"output\":\"${ .task.output.b }\",\"expression\":\".a > 1\","
                                + "\"feedback\":\"too small\"}",
                        "verify-3 verify.regex {\"output\":\"${ .task.output }\",\"pattern\":\"bad\",\"absent\":true}",
                        "verify-4 verify.sections {\"output\":\"${ .task.output }\",\"sections\":[\"One\",\"Two\"]}",
                        "verify-5 translate {\"to\":\"de\",\"output\":\"${ .task.output }\"}");
        assertThat(task.policy().verify().get(2).retry().maxAttempts()).isEqualTo(1);
        assertThat(task.policy().verify().get(3).timeout()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void configReachesTheCore() {
        assertThat(Missions.yaml("""
                name: m
                plan: {total_estimated_tokens: 7, tasks: [{id: a, estimated_cost: 0.1}, {id: b, estimated_cost: 0.2}]}
                config:
                  autonomy: {level: approve}
                  budget: {hard_limit_usd: 1.5, soft_limit_usd: 0.1, warn_at_percent: 80, min_credits: 10}
                  max_attempts: 2
                  max_agents: 3
                  task_order: sequential
                  retry: {max_retries_per_task: 4, max_continuations_per_task: 8, backoff_base_seconds: 0,
                          backoff_max_seconds: 9, max_elapsed_seconds: 70, context: keep}
                  level_retry: {preset: steps, max_attempts: 5}
                  limits: {tasks_per_agent: 4, tasks_per_default_agent: 5, steps_per_task: 6, max_deliveries: 7}
                  failure_mode: continue
                  agent_failure_mode: retry
                  escalation: {enabled: false, on_exhausted: true, window_s: 60, error_threshold: 2, error_rate: 0.25}
                  replan: {max: 1, approve: true, planner: {tool: echo, input: {a: "${ .tasks.a.state }"}}}
                  timeouts: {run_pending_seconds: 1, run_max_duration_seconds: 2, run_paused_seconds: 3,
                             run_resuming_seconds: 4, run_retrying_seconds: 5, agent_seconds: 6, task_seconds: 7,
                             task_stall_seconds: 8, task_assign_seconds: 9, verify_seconds: 10, provider_wait_seconds: 13}
                  heartbeat: {on_loss: fail, timeout_seconds: 11}
                  human_timeout_seconds: 12
                  on_human_timeout: approve
                  acceptance: human
                  concurrency: {key: order-7, limit: 2}
                  hooks: {before_run: {tool: noop, timeout_seconds: 3}, after_run: {tool: agent.turn}}
                """).policy())
                .isEqualTo(new RunPolicy(true, 2, 3, 4, 5, 6, true, 7, 8, RunPolicy.DEFAULT.maxFanOut(),
                        new FailureRules(FailureMode.CONTINUE, FailureMode.RETRY,
                                new RetryPolicy(4, 4, Duration.ZERO, Duration.ofSeconds(9), 2, 0,
                                        Duration.ofSeconds(70)),
                                new RetryPolicy(5, 5, Duration.ofMillis(200), Duration.ofSeconds(30), 2, 0),
                                5, new EscalationPolicy(false, true, Duration.ofSeconds(60), 2, 0.25),
                                new StepSpec("plan", StepKind.TOOL, "echo",
                                        "{\"a\":\"${ .tasks.a.state }\",\"failure\":\"${ .failure }\"}",
                                        RetryPolicy.STEP, Duration.ofSeconds(30)),
                                1, true, true, Models.NONE, true, false),
                        new Timeouts(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(3),
                                Duration.ofSeconds(4), Duration.ofSeconds(5), Duration.ofSeconds(6),
                                Duration.ofSeconds(7), Duration.ofSeconds(8), Duration.ofSeconds(9),
                                Duration.ofSeconds(10), Duration.ofSeconds(11), Duration.ofSeconds(13)),
                        new HumanRules(true, Duration.ofSeconds(12), HumanRules.OnTimeout.APPROVE, Autonomy.APPROVE),
                        new Hooks(new StepSpec("before_run", StepKind.TOOL, "noop", "{}", RetryPolicy.STEP,
                                Duration.ofSeconds(3)),
                                new StepSpec("after_run", StepKind.TURN, "agent.turn", "{}", RetryPolicy.STEP,
                                        StepSpec.OF_TASK)),
                        new Budget(new BigDecimal("0.3"), Map.of(), new BigDecimal("1.5"), new BigDecimal("0.1"),
                                new BigDecimal("80"), new BigDecimal("10")),
                        new Concurrency("order-7", 2, null)));
    }

    /** members of the plan | of its first task | of its second | which tokens its estimate counts. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "| \"estimated_tokens\": 5, \"suggested_model\": \"m\" | \"estimated_tokens\": 7, \"suggested_model\": \"m\" | {m=12}",
            "| \"estimated_tokens\": 5, \"suggested_model\": \"m\" | \"estimated_tokens\": 7, \"suggested_model\": \"l\" | {l=7, m=5}",
            "| \"estimated_tokens\": 5, \"suggested_model\": \"m\" | \"estimated_cost\": 1, \"estimated_tokens\": 7, \"suggested_model\": \"m\" | {m=5}",
            "| \"estimated_tokens\": 5 | \"estimated_tokens\": 7 | {}",
            "\"total_estimated_tokens\": 99, | \"suggested_model\": \"m\" | \"title\": \"x\" | {m=99}",
            "\"total_estimated_tokens\": 99, | \"suggested_model\": \"m\" | \"suggested_model\": \"l\" | {}",
            "\"total_estimated_cost\": 1, | \"estimated_tokens\": 5, \"suggested_model\": \"m\" | \"title\": \"x\" | {}"})
    void unpricedTokensAreCounted(@Nullable String plan, String first, String second, String counted) {
        Budget budget = Missions.json("""
                {"name": "x", "plan": {%s "tasks": [{"id": "a", %s}, {"id": "b", %s}]}}"""
                .formatted(plan == null ? "" : plan, first, second)).policy().budget();
        assertThat(new TreeMap<>(budget.tokensByModel())).hasToString(counted);
    }

    /** autonomy | members of the plan | whether a person must approve it | whether failures may ask one. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "                                                     |                              | false | true",
            "\"level\": \"approve\"                           |                              | true  | true",
            "\"level\": \"autonomous\"                        | \"total_estimated_cost\": 7, | true  | true",
            "\"level\": \"full_auto\", \"auto_approve_threshold\": 5 | \"total_estimated_cost\": 7, | false | false",
            "\"level\": \"autonomous\", \"auto_approve_threshold\": 5 | \"total_estimated_cost\": 5, | false | true",
            "\"level\": \"autonomous\", \"auto_approve_threshold\": 5 | \"total_estimated_cost\": 5.01, | true | true",
            "\"level\": \"autonomous\", \"auto_approve_threshold\": 3 |                        | true  | true",
            "\"level\": \"autonomous\", \"auto_approve_threshold\": 4 |                        | false | true"})
    void autonomyWeighsThePlansEstimate(@Nullable String autonomy, @Nullable String plan, boolean approve,
            boolean escalate) {
        RunPolicy policy = Missions.json("""
                {"name": "m", "config": {"autonomy": {%s}}, "plan": {%s "tasks": [
                  {"id": "a", "estimated_cost": 1.5}, {"id": "b", "estimated_cost": 2.5}, {"id": "c"}]}}""".formatted(
                Objects.requireNonNullElse(autonomy, ""), Objects.requireNonNullElse(plan, ""))).policy();

        assertThat(policy.approvePlan()).isEqualTo(approve);
        assertThat(policy.failures().escalation().enabled()).isEqualTo(escalate);
    }

    @Test
    void nameAndGoalStandInForEachOther() {
        assertThat(Missions.json("{\"goal\": \"Do this\\nand that\", \"plan\": {\"tasks\": []}}").name())
                .isEqualTo("Do this");
        assertThat(Missions.json("{\"task\": \"Do this\", \"plan\": {\"tasks\": []}}").goal()).isEqualTo("Do this");
        assertThat(Missions.json("{\"name\": \"this\", \"plan\": {\"tasks\": []}}").goal()).isEqualTo("this");
        String emoji = "\uD83D\uDE00".repeat(300);
        assertThat(Missions.json("{\"goal\": \"" + emoji + "\", \"plan\": {\"tasks\": []}}").name())
                .isEqualTo("\uD83D\uDE00".repeat(200));
    }

    @Test
    void givenInputsStandBeforeDefaults() {
        CheckedMission mission = Missions.yaml("""
                name: m
                inputs:
                  path: {type: string, default: "."}
                  depth: {type: [integer, "null"], minimum: 1, default: 3}
                  tags: {type: array, items: {type: string, pattern: "^[a-z]+$"}}
                input: {depth: null, tags: [a, b]}
                plan: {tasks: []}
                """);

        assertThat(mission.input()).hasToString("{\"path\":\".\",\"depth\":null,\"tags\":[\"a\",\"b\"]}");
        assertThat(mission.declarations().propertyNames()).containsExactly("path", "depth", "tags");
    }

    @Test
    void taskMayReadUpstreamOutputsAndTheRunsOutputAnyTask() {
        assertThat(Missions.problems("""
                {"name": "m", "output": {"all": ["${ .tasks.a.output }", "${ .tasks[\\"b-1\\"].output }"]}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "noop"}], "output": {"half": "${ .tasks.a.state } and \\"quoted\\""}},
                  {"id": "b-1", "depends_on": ["a"], "for_each": "${ .tasks.a.output.items }",
                   "steps": [{"tool": "echo", "input": {"message": "${ .item }"}}]}]}}""", Format.JSON)).isEmpty();
    }

    @Test
    void anIntegerMayBeWrittenWithAPoint() {
        assertThat(Missions.yaml("{name: m, priority: 7.0, plan: {tasks: []}}").priority()).isEqualTo(7);
    }

    @Test
    void oneReaderServesManyThreads() {
        CheckedMission expected = Missions.yaml(EXAMPLE);

        assertThat(IntStream.range(0, 200).parallel().mapToObj(i -> Missions.yaml(EXAMPLE)).toList())
                .allMatch(expected::equals);
    }

    /** What the documentation shows, anybody may try. */
    @Test
    void theMissionsOfTheDocumentationCanRun() throws IOException {
        String page = Files.readString(Path.of("../docs/guide/missions.md"));
        List<String> missions = Pattern.compile("```yaml\n(name: .*?)```", Pattern.DOTALL).matcher(page).results()
                .map(found -> found.group(1)).toList();

        assertThat(missions).hasSize(4).allSatisfy(Missions::yaml);
    }
}
