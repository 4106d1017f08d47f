package io.keelson.server.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.RetryPolicy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MissionReaderTest {
    /** The specification's example (api, "Mission file") with its ellipses filled in and without verify. */
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
                  steps:
                    - {name: sign-off, kind: approval, input: {question: "Publish?"}}
                    - {name: write, tool: artifact.write, input: {name: report.md, content: "${ .tasks.inventory.output }"}, retry: {max_attempts: 5}, timeout_seconds: 30}
                  success_criteria: It has a summary
            output: "${ .tasks.report.output }"
            """;
    private static final String MINIMAL = "{\"name\": \"m\", \"plan\": {\"tasks\": [%s]}}";

    @Test
    void theSpecificationsExampleIsRead() {
        Mission mission = Missions.yaml(EXAMPLE);

        assertThat(mission.name()).isEqualTo("repository-report");
        assertThat(mission.goal()).isEqualTo("Describe the repository at a path");
        assertThat(mission.priority()).isEqualTo(100);
        assertThat(mission.start()).isFalse();
        assertThat(mission.policy()).isEqualTo(RunPolicy.DEFAULT);
        assertThat(mission.output()).isEqualTo("\"${ .tasks.report.output }\"");
        assertThat(mission.input()).hasToString("{\"path\":\".\"}");
        assertThat(mission.config())
                .hasToString("{\"autonomy\":{\"level\":\"full_auto\"},\"budget\":{\"hard_limit_usd\":1}}");
        TaskSpec report = mission.plan().tasks().get(1);
        assertThat(report).isEqualTo(new TaskSpec("report", "report", null, "other", null,
                List.of(new Dependency("inventory", true)), TriggerRule.ALL_SUCCESS, "${ .inputs.path != \"\" }", null,
                null, false, report.steps(), "It has a summary"));
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
        Reading<JsonNode> tree = Documents.read(
                EXAMPLE.getBytes(StandardCharsets.UTF_8), Format.YAML);
        String json = ((Reading.Done<JsonNode>) tree).value().toString();

        assertThat(Missions.json(json)).isEqualTo(Missions.yaml(EXAMPLE));
        assertThat(Missions.yaml(json)).as("JSON is YAML").isEqualTo(Missions.yaml(EXAMPLE));
    }

    @Test
    void thePlanAsStoredHasTheFormOfPrd101AndReadsAsTheSamePlan() {
        Mission mission = Missions.yaml(EXAMPLE);

        assertThat(mission.planJson()).isEqualTo(JsonMapper.shared().readTree("""
                {"version": 1, "strategy": "mixed", "tasks": [
                  {"temp_id": "inventory", "title": "Take inventory", "task_type": "analysis", "depends_on": [],
                   "trigger_rule": "all_success", "steps": [
                     {"name": "list", "kind": "tool", "tool": "files.list", "input": {"path": "${ .inputs.path }"}}]},
                  {"temp_id": "report", "title": "report", "task_type": "other", "depends_on": ["inventory"],
                   "trigger_rule": "all_success", "failure_mode": "fail_fast", "when": "${ .inputs.path != \\"\\" }",
                   "success_criteria": "It has a summary", "steps": [
                     {"name": "sign-off", "kind": "approval", "tool": "approval", "input": {"question": "Publish?"}},
                     {"name": "write", "kind": "tool", "tool": "artifact.write", "retry": {"max_attempts": 5},
                      "timeout_seconds": 30,
                      "input": {"name": "report.md", "content": "${ .tasks.inventory.output }"}}]}]}"""));
        Mission again = Missions.json("{\"name\": \"again\", \"inputs\": {\"path\": {\"default\": \".\"}}, \"plan\": "
                + mission.planJson() + "}");
        assertThat(again.plan()).isEqualTo(mission.plan());
        assertThat(again.planJson()).isEqualTo(mission.planJson());
    }

    @Test
    void aPlanOfNoTasksIsFine() {
        assertThat(Missions.json(MINIMAL.formatted("")).plan().tasks()).isEmpty();
    }

    @Test
    void aTaskWithoutStepsIsAnAgentsTurn() {
        Mission mission = Missions.json(MINIMAL.formatted("""
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
        assertThat(turn.timeout()).isEqualTo(Duration.ofSeconds(120));
        assertThat(JsonMapper.shared().readTree(turn.input())).isEqualTo(JsonMapper.shared().readTree("""
                {"title": "Write it up", "description": "In ${ .inputs | length } words", "success_criteria": "short",
                 "model": "large", "tools": ["files.read"], "inputs": {"style": "plain"},
                 "upstream": {"a.1": "${ .tasks[\\"a.1\\"].output }"}}"""));
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
                Duration.ofDays(367).toMillis(), 120_000L, 120_000L, Duration.ofDays(365).toMillis(), 500L);
    }

    @Test
    void retriesAreNumbersOrAPreset() {
        List<StepSpec> steps = Missions.json(MINIMAL.formatted("""
                {"id": "a", "steps": [
                  {"tool": "noop", "retry": {"preset": "lifecycle"}},
                  {"tool": "noop", "retry": {"max_attempts": 9, "max_failures": 4, "base_delay_seconds": 0,
                   "max_delay_seconds": 7.5, "factor": 3, "jitter": 0}}]}""")).plan().tasks().getFirst().steps();

        assertThat(steps.get(0).retry()).isEqualTo(RetryPolicy.preset("lifecycle").orElseThrow());
        assertThat(steps.get(1).retry())
                .isEqualTo(new RetryPolicy(9, 4, Duration.ZERO, Duration.ofMillis(7_500), 3, 0));
    }

    @Test
    void theConfigSaysToTheCore() {
        assertThat(Missions.json("""
                {"name": "m", "plan": {"tasks": []}, "config": {"autonomy": {"level": "approve"}, "max_attempts": 2,
                 "max_agents": 3, "task_order": "sequential", "retry": {"max_continuations_per_task": 8},
                 "limits": {"tasks_per_agent": 4, "tasks_per_default_agent": 5, "steps_per_task": 6,
                            "max_deliveries": 7}}}""").policy())
                .isEqualTo(new RunPolicy(true, 2, 3, 4, 5, 6, true, 7, 8, RunPolicy.DEFAULT.maxFanOut()));
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
        Mission mission = Missions.yaml("""
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
    void aTaskMayReadWhatComesBeforeItAndTheRunsOutputWhatItLikes() {
        Missions.json("""
                {"name": "m", "output": {"all": ["${ .tasks.a.output }", "${ .tasks[\\"b-1\\"].output }"]}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "noop"}], "output": {"half": "${ .tasks.a.state } and \\"quoted\\""}},
                  {"id": "b-1", "depends_on": ["a"], "for_each": "${ .tasks.a.output.items }",
                   "steps": [{"tool": "echo", "input": {"message": "${ .item }"}}]}]}}""");
    }

    @Test
    void anIntegerMayBeWrittenWithAPoint() {
        assertThat(Missions.yaml("{name: m, priority: 7.0, plan: {tasks: []}}").priority()).isEqualTo(7);
    }

    @Test
    void oneReaderServesManyThreads() {
        Mission expected = Missions.yaml(EXAMPLE);

        assertThat(IntStream.range(0, 200).parallel().mapToObj(i -> Missions.yaml(EXAMPLE)).toList())
                .allMatch(expected::equals);
    }

    /** What the documentation shows, anybody may try. */
    @Test
    void theMissionsOfTheDocumentationCanRun() throws IOException {
        String page = Files.readString(Path.of("../docs/missions.md"));
        List<String> missions = Pattern.compile("```yaml\n(name: .*?)```", Pattern.DOTALL).matcher(page).results()
                .map(found -> found.group(1)).toList();

        assertThat(missions).hasSize(3).allSatisfy(Missions::yaml);
    }
}
