package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.PlanProblem;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;

/** What is wrong with a mission, where, and in which words: each row is a document and all of its problems. */
class BadMissionsTest {
    private static final String LONG = "x".repeat(100_000);

    static final List<Arguments> SHAPES = List.of(row("[]", "WRONG_TYPE '' expected object, found array"),
            row("null", "WRONG_TYPE '' expected object, found null"),
            row("{}", "PLAN_REQUIRED /plan a plan, a goal", "REQUIRED /name a name or a goal"),
            row("{name: m, recipe: r}", "RECIPE_UNRESOLVED /recipe recipes are known only to a server"),
            row("{name: m, plan: {}}", "REQUIRED /plan/tasks 'tasks' must be given"),
            row("{name: m, plan: {tasks: {}}}", "WRONG_TYPE /plan/tasks expected array, found object"),
            row("{name: m, plan: null}", "WRONG_TYPE /plan omit the key"),
            mission("nam: x", "UNKNOWN_KEY /nam did you mean 'name'?"),
            mission("'a/b~c': x", "UNKNOWN_KEY /a~1b~0c unknown key 'a/b~c'; known: $schema, name, goal"),
            mission("goal: 5", "WRONG_TYPE /goal expected string, found integer"),
            mission("goal: ''", "EMPTY /goal may not be empty"),
            mission("goal: a, task: b", "INVALID_VALUE /task goal and task are synonyms"),
            mission("description: " + LONG + "x", "TOO_LONG /description at most 100000 characters"),
            mission("priority: high", "WRONG_TYPE /priority expected integer, found string"),
            mission("priority: 1.5", "WRONG_TYPE /priority expected integer, found number"),
            mission("priority: -1", "OUT_OF_RANGE /priority -1 is out of range: at least 0"),
            mission("start: 'yes'", "WRONG_TYPE /start expected boolean, found string"),
            mission("start_at: '2026-01-01T00:00:00'", "INVALID_VALUE /start_at RFC 3339"),
            mission("tags: [a, 5]", "WRONG_TYPE /tags/1 expected string"),
            mission("trigger: By Hand", "INVALID_VALUE /trigger does not have the form"),
            mission("external_id: ''", "EMPTY /external_id empty"),
            mission("output: '${ .tasks.ghost.output }'", "UNKNOWN_REFERENCE /output names task 'ghost'"),
            mission("output: '${ .inputs.path }'", "UNKNOWN_REFERENCE /output input 'path', which is not declared"),
            mission("output: '${ .task.a.output }'",
                    "UNKNOWN_REFERENCE /output names '.task', which does not exist here; did you mean 'tasks'?"),
            mission("output: {a: ['${ .x | ']}", "EXPRESSION_SYNTAX /output/a/0 (at character 1)"));

    static final List<Arguments> CONFIGS = List.of(
            config("budgt: {}", "UNKNOWN_KEY /config/budgt did you mean 'budget'?"),
            task("id: a, budget_usd: 0", "OUT_OF_RANGE /plan/tasks/0/budget_usd more than 0"),
            task("id: a, budget_usd: 0.0000001", "OUT_OF_RANGE /plan/tasks/0/budget_usd at most 6 decimal places"),
            config("budget: {hard_limit: 1}", "UNKNOWN_KEY /config/budget/hard_limit did you mean 'hard_limit_usd'?"),
            config("budget: {hard_limit_usd: -1}", "OUT_OF_RANGE /config/budget/hard_limit_usd at least 0"),
            config("budget: {hard_limit_usd: 1.5, soft_limit_usd: 2}",
                    "INVALID_VALUE /config/budget/soft_limit_usd must not be above hard_limit_usd"),
            config("budget: {hard_limit_usd: 2.0000001, soft_limit_usd: 1.1234567, min_credits: 1.0000000}",
                    "OUT_OF_RANGE /config/budget/hard_limit_usd at most 6 decimal places",
                    "OUT_OF_RANGE /config/budget/soft_limit_usd at most 6 decimal places"),
            config("budget: {hard_limit_usd: 2000000000}",
                    "OUT_OF_RANGE /config/budget/hard_limit_usd at most 1000000000"),
            config("budget: 5", "WRONG_TYPE /config/budget expected object, found integer"),
            config("autonomy: {level: aprove}", "INVALID_VALUE /config/autonomy/level did you mean 'approve'?"),
            config("max_agents: 0", "OUT_OF_RANGE /config/max_agents at least 1"),
            config("max_agents: 1.5", "WRONG_TYPE /config/max_agents expected integer, found number"),
            config("timeouts: {verify_seconds: 0}", "OUT_OF_RANGE /config/timeouts/verify_seconds at least 0.1"),
            config("timeouts: {run_max_duration_seconds: 1.0e-9}",
                    "OUT_OF_RANGE /config/timeouts/run_max_duration_seconds 1.0E-9 is out of range: at least 0.1"),
            config("limits: {steps_per_task: '3'}", "WRONG_TYPE /config/limits/steps_per_task found string"),
            config("task_order: random", "INVALID_VALUE /config/task_order allowed: dag, sequential, parallel"),
            config("version: 2", "INVALID_VALUE /config/version allowed: 1"),
            config("failure_mode: forgive", "INVALID_VALUE /config/failure_mode allowed: fail_fast, continue, retry"),
            config("agent_failure_mode: forgive", "INVALID_VALUE /config/agent_failure_mode allowed: fail_fast"),
            config("acceptance: robot", "INVALID_VALUE /config/acceptance allowed: auto, human"),
            config("on_human_timeout: aprove", "INVALID_VALUE /config/on_human_timeout did you mean 'approve'?"),
            config("human_timeout_seconds: 0", "OUT_OF_RANGE /config/human_timeout_seconds at least 0.1"),
            config("heartbeat: {on_loss: weep}", "INVALID_VALUE /config/heartbeat/on_loss allowed: reclaim, fail"),
            config("escalation: {error_rate: 2}", "OUT_OF_RANGE /config/escalation/error_rate at most 1"),
            config("escalation: {on_exhaust: true}", "UNKNOWN_KEY /config/escalation/on_exhaust 'on_exhausted'?"),
            config("retry: {max_retries_per_task: -1}", "OUT_OF_RANGE /config/retry/max_retries_per_task at least 0"),
            config("level_retry: {preset: never}", "INVALID_VALUE /config/level_retry/preset allowed: gate4"),
            config("timeouts: {run_pending_second: 5}",
                    "UNKNOWN_KEY /config/timeouts/run_pending_second 'run_pending_seconds'?"),
            config("hooks: {before_run: {tool: teleport}}", "UNKNOWN_TOOL /config/hooks/before_run/tool 'teleport'"),
            config("hooks: {before_run: {input: {}}}", "REQUIRED /config/hooks/before_run/tool 'tool' must be given"),
            config("hooks: {after_run: {tool: wait, input: {seconds: 1}}}",
                    "INVALID_VALUE /config/hooks/after_run/tool 'wait' cannot be used here"),
            config("hooks: {around_run: {tool: noop}}", "UNKNOWN_KEY /config/hooks/around_run known: before_run"),
            config("hooks: {before_run: {tool: noop, input: {tokens: x}}}",
                    "TOOL_INPUT_INVALID /config/hooks/before_run/input/tokens integer expected"),
            config("hooks: {before_run: {tool: echo, input: {a: '${ .inputs.x }'}}}",
                    "UNKNOWN_REFERENCE /config/hooks/before_run/input names input 'x', which is not declared"),
            config("hooks: {after_run: {tool: echo, input: {a: '${ .tasks.ghost.output }'}}}",
                    "UNKNOWN_REFERENCE /config/hooks/after_run/input task 'ghost', which does not exist"),
            config("hooks: {after_run: {tool: echo, input: {v: '${ .tsks }'}}}",
                    "UNKNOWN_REFERENCE /config/hooks/after_run/input did you mean 'tasks'?"),
            row("{name: m, config: {hooks: {before_run: {tool: echo, input: {a: '${ .tasks.t.output }'}}}},"
                    + " plan: {tasks: [{id: t}]}}",
                    "REFERENCE_NOT_UPSTREAM /config/hooks/before_run/input task 't', which has not run by then"),
            config("replan: {planner: {tool: plan.fallback, input: {}}}",
                    "TOOL_INPUT_INVALID /config/replan/planner/input required property 'rules' not found"),
            config("replan: {planner: {tool: plan.none}}", "UNKNOWN_TOOL /config/replan/planner/tool 'plan.none'"),
            config("replan: {planner: noop}", "WRONG_TYPE /config/replan/planner expected object, found string"));

    static final List<Arguments> TASKS = List.of(
            task("id: a, estimated_cost: 0.0000001",
                    "OUT_OF_RANGE /plan/tasks/0/estimated_cost at most 6 decimal places"),
            task("title: a", "REQUIRED /plan/tasks/0/id 'id' must be given"),
            task("id: 5", "WRONG_TYPE /plan/tasks/0/id expected string, found integer"),
            task("id: a b", "INVALID_VALUE /plan/tasks/0/id does not have the form"),
            task("id: .a", "INVALID_VALUE /plan/tasks/0/id does not have the form"),
            task("id: \"a\\n\"", "INVALID_VALUE /plan/tasks/0/id does not have the form"),
            task("id: ''", "INVALID_VALUE /plan/tasks/0/id does not have the form"),
            task("id: " + LONG, "TOO_LONG /plan/tasks/0/id at most 200 characters are allowed, these are 100000"),
            task("id: a, temp_id: b", "INVALID_VALUE /plan/tasks/0/temp_id the same thing"),
            task("id: a, repeat: {until: .output.x, untill: y}",
                    "UNKNOWN_KEY /plan/tasks/0/repeat/untill did you mean 'until'?; known: until, max, delay_seconds, budget_usd, keep"),
            task("id: g, repeat: {until: .output.reveiw.ok}, group: [{id: review, steps: [{tool: noop}]}]",
                    "UNKNOWN_REFERENCE /plan/tasks/0/repeat/until the group has no such task; did you mean 'review'?; known: review"),
            task("id: a, repeat: {until: .steps.x.output}, steps: [{tool: noop, name: x}]",
                    "UNKNOWN_REFERENCE /plan/tasks/0/repeat/until names '.steps', which does not exist here"),
            task("id: g, repeat: {until: .output.a.ok}, group: [{id: a, when: '${ .previous.b }', steps: [{tool: noop}]}]",
                    "UNKNOWN_REFERENCE /plan/tasks/0/group/0/when the expression names '.previous.b', and the group has no such task"),
            task("id: a, title: " + LONG, "TOO_LONG /plan/tasks/0/title at most 500"),
            task("id: a, depend_on: []", "UNKNOWN_KEY /plan/tasks/0/depend_on did you mean 'depends_on'?"),
            task("id: a, task_type: magic", "INVALID_VALUE /plan/tasks/0/task_type allowed: research, analysis"),
            task("id: a, trigger_rule: ALL_DONE", "INVALID_VALUE /plan/tasks/0/trigger_rule allowed: all_success"),
            task("id: a, failure_mode: forget", "INVALID_VALUE /plan/tasks/0/failure_mode allowed: fail_fast"),
            task("id: a, timeout_seconds: 0", "OUT_OF_RANGE /plan/tasks/0/timeout_seconds at least 0.1"),
            task("id: a, suggested_agent: {agent_name: .engine}",
                    "INVALID_VALUE /plan/tasks/0/suggested_agent/agent_name does not begin with a dot"),
            task("id: a, suggested_agent: {agent_name: ''}", "EMPTY /plan/tasks/0/suggested_agent/agent_name empty"),
            task("id: a, depends_on: b", "WRONG_TYPE /plan/tasks/0/depends_on expected array, found string"),
            task("id: a, depends_on: [5]", "WRONG_TYPE /plan/tasks/0/depends_on/0 expected string or object"),
            task("id: a, depends_on: [{type: data}]", "REQUIRED /plan/tasks/0/depends_on/0/task 'task'",
                    "DEPENDENCY_UNKNOWN /plan/tasks/0/depends_on/0 depends on ''"),
            task("id: a, depends_on: [b]", "DEPENDENCY_UNKNOWN /plan/tasks/0/depends_on/0 'b', which does not exist"),
            task("id: a, depends_on: [a]", "DEPENDENCY_CYCLE /plan/tasks/0/depends_on a → a"),
            task("id: t1, depends_on: [t2]}, {id: t2, depends_on: [t1]",
                    "DEPENDENCY_CYCLE /plan/tasks/0/depends_on t1 → t2 → t1"),
            task("id: a}, {id: a", "DUPLICATE_NAME /plan/tasks/1/id already used by task 0"),
            task("temp_id: a}, {temp_id: a", "DUPLICATE_NAME /plan/tasks/1/temp_id already used by task 0"),
            task("id: a}, 7, {id: b", "WRONG_TYPE /plan/tasks/1 expected object, found integer"),
            task("id: a, when: .inputs.x", "INVALID_VALUE /plan/tasks/0/when it is: A ${ } expression"),
            task("id: a, when: '${ .a | }'", "EXPRESSION_SYNTAX /plan/tasks/0/when (at character 1)"),
            task("id: a, when: '${ .input.n > 1 }'", "UNKNOWN_REFERENCE /plan/tasks/0/when did you mean 'inputs'?"),
            task("id: a, for_each: '${ .lists }'", "UNKNOWN_REFERENCE /plan/tasks/0/for_each names '.lists'"),
            task("id: a, for_each: '${ [1] }', label: '${ .itm }'",
                    "UNKNOWN_REFERENCE /plan/tasks/0/label did you mean 'item'?"),
            task("id: a, output: '${ .step.s.output }'", "UNKNOWN_REFERENCE /plan/tasks/0/output mean 'steps'?"),
            task("id: a, when: '${ .inputs.path }'", "UNKNOWN_REFERENCE /plan/tasks/0/when input 'path'"),
            task("id: a, tools_needed: [echo, files.lst]",
                    "UNKNOWN_TOOL /plan/tasks/0/tools_needed/1 did you mean 'files.list'?"),
            task("id: a, suggested_agent: {type: contractor, agent_name: x, tools: [teleport]}",
                    "UNKNOWN_TOOL /plan/tasks/0/suggested_agent/tools/0 no tool 'teleport'"),
            task("id: a, when: '${ .inputs.my-input }'",
                    "EXPRESSION_SYNTAX /plan/tasks/0/when a name with a hyphen is written .inputs[\"my-input\"]"),
            task("id: a, for_each: [1, 2]", "WRONG_TYPE /plan/tasks/0/for_each expected string, found array"),
            task("id: a, output: {x: '${ ((( }'}", "EXPRESSION_SYNTAX /plan/tasks/0/output/x character"),
            task("id: a, when: '${ .tasks.b.output }'}, {id: b",
                    "REFERENCE_NOT_UPSTREAM /plan/tasks/0/when add it to depends_on"));

    static final List<Arguments> STEPS = List.of(
            step("name: s", "REQUIRED /plan/tasks/0/steps/0/tool 'tool' must be given"),
            step("tool: 5", "WRONG_TYPE /plan/tasks/0/steps/0/tool expected string"),
            step("tool: files.lst", "UNKNOWN_TOOL /plan/tasks/0/steps/0/tool did you mean 'files.list'?"),
            step("tool: teleport", "UNKNOWN_TOOL /plan/tasks/0/steps/0/tool no tool 'teleport'"),
            step("tool: noop, name: " + LONG, "TOO_LONG /plan/tasks/0/steps/0/name at most 200"),
            step("tool: noop, kind: dance", "INVALID_VALUE /plan/tasks/0/steps/0/kind allowed: tool, approval, turn"),
            step("tool: noop, kind: approval", "INVALID_VALUE /plan/tasks/0/steps/0/tool has the tool 'approval'"),
            step("tool: noop, kind: turn", "INVALID_VALUE /plan/tasks/0/steps/0/tool has the tool 'agent.turn'"),
            step("tool: noop, name: s}, {tool: noop, name: s",
                    "DUPLICATE_NAME /plan/tasks/0/steps/1/name 's' is used twice"),
            step("tool: noop, input: []", "WRONG_TYPE /plan/tasks/0/steps/0/input expected object, found array"),
            step("tool: files.list, input: '${ .inputs }'", "WRONG_TYPE /plan/tasks/0/steps/0/input expected object"),
            step("tool: noop, timeout_seconds: 0", "OUT_OF_RANGE /plan/tasks/0/steps/0/timeout_seconds at least 0.1"),
            step("tool: noop, timeout_seconds: 1e300", "OUT_OF_RANGE /plan/tasks/0/steps/0/timeout_seconds at most"),
            step("tool: noop, retry: 3", "WRONG_TYPE /plan/tasks/0/steps/0/retry expected object, found integer"),
            step("tool: noop, retry: {preset: forever}",
                    "INVALID_VALUE /plan/tasks/0/steps/0/retry/preset allowed: gate4, lifecycle, steps"),
            step("tool: noop, retry: {max_elapsed_seconds: 0}",
                    "OUT_OF_RANGE /plan/tasks/0/steps/0/retry/max_elapsed_seconds at least 0.1"),
            step("tool: noop, retry: {max_attempts: 99999999999}",
                    "OUT_OF_RANGE /plan/tasks/0/steps/0/retry/max_attempts at most 1000"),
            step("tool: noop, retry: {delay: 1}", "UNKNOWN_KEY /plan/tasks/0/steps/0/retry/delay known: preset"),
            step("tool: noop, retry: {base_delay_seconds: 3600, max_delay_seconds: 7200, jitter: 0}",
                    "NEVER_IN_TIME /plan/tasks/0/steps/0/retry when config.timeouts.task_seconds, 3600 s, is over"),
            step("tool: noop, retry: {base_delay_seconds: 4000, max_delay_seconds: 7200}",
                    "NEVER_IN_TIME /plan/tasks/0/steps/0/retry begin 3600 s"),
            task("id: a, timeout_seconds: 5, steps: [{tool: noop, retry: {preset: gate4, base_delay_seconds: 6}}]",
                    "NEVER_IN_TIME /plan/tasks/0/steps/0/retry the task's timeout_seconds, 5 s, is over"),
            task("id: a, retry: {base_delay_seconds: 86400, max_delay_seconds: 86400}, steps: [{tool: noop}]",
                    "NEVER_IN_TIME /plan/tasks/0/retry agent_seconds, 21600 s, is over"),
            row("{name: m, config: {timeouts: {run_max_duration_seconds: 60}}, plan: {tasks: [{id: a, retry: "
                    + "{base_delay_seconds: 60}, steps: [{tool: noop}]}]}}",
                    "NEVER_IN_TIME /plan/tasks/0/retry run_max_duration_seconds, 60 s, is over"),
            step("tool: wait, input: {seconds: soon}",
                    "TOOL_INPUT_INVALID /plan/tasks/0/steps/0/input/seconds number expected"),
            step("tool: wait, input: {seconds: '${ .inputs.x | }'}",
                    "EXPRESSION_SYNTAX /plan/tasks/0/steps/0/input/seconds (at character 1)"),
            step("tool: translate, input: {text: '${ .tasks.ghost.output }'}",
                    "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input names task 'ghost'"),
            step("tool: echo, input: {v: '${ .inputz.n }', w: '${ .inputs // .item }'}",
                    "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input names '.inputz', which does not exist here; did you "
                            + "mean 'inputs'?; known: inputs, run, steps, task, tasks, transcript",
                    "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input names '.item', which exists in a task with for_each"),
            step("tool: echo, input: {v: '${ .failure }'}",
                    "UNKNOWN_REFERENCE /plan/tasks/0/steps/0/input '.failure', which does not exist here; known"),
            step("tool: echo, input: {value: '${ .steps.later.output }'}}, {tool: noop, name: later",
                    "REFERENCE_NOT_UPSTREAM /plan/tasks/0/steps/0/input step 'later', which has not ended"));

    static final List<Arguments> VERIFIERS = List.of(
            verify("{}", "REQUIRED /plan/tasks/0/verify/0/kind 'kind' must be given"),
            verify("jq", "WRONG_TYPE /plan/tasks/0/verify/0 expected object, found string"),
            verify("{kind: magic}", "INVALID_VALUE /plan/tasks/0/verify/0/kind allowed: json_schema, jq, regex"),
            verify("{kind: jq}", "REQUIRED /plan/tasks/0/verify/0/expression 'expression' must be given"),
            verify("{kind: jq, expression: '.a | '}", "EXPRESSION_SYNTAX /plan/tasks/0/verify/0/expression column"),
            verify("{kind: jq, expression: ., pattern: a}",
                    "INVALID_VALUE /plan/tasks/0/verify/0/pattern 'pattern' is not for kind jq"),
            verify("{kind: jq, expression: ., threshold: 0.5}",
                    "INVALID_VALUE /plan/tasks/0/verify/0/threshold 'threshold' is not for kind jq"),
            verify("{kind: tool, tool: echo, threshold: 1.5}",
                    "OUT_OF_RANGE /plan/tasks/0/verify/0/threshold at most 1"),
            verify("{kind: regex}", "REQUIRED /plan/tasks/0/verify/0/pattern 'pattern' must be given"),
            verify("{kind: regex, pattern: '(?=x)'}", "INVALID_VALUE /plan/tasks/0/verify/0/pattern RE2"),
            verify("{kind: regex, pattern: x, absent: 1}", "WRONG_TYPE /plan/tasks/0/verify/0/absent boolean"),
            verify("{kind: json_schema, schema: {type: text}}",
                    "INVALID_SCHEMA /plan/tasks/0/verify/0/schema/type must be one of array"),
            verify("{kind: json_schema, schema: {items: {$ref: '#'}}}",
                    "INVALID_SCHEMA /plan/tasks/0/verify/0/schema/items/$ref '$ref' is not supported"),
            verify("{kind: required_sections, sections: []}",
                    "EMPTY /plan/tasks/0/verify/0/sections at least 1"),
            verify("{kind: tool}", "REQUIRED /plan/tasks/0/verify/0/tool 'tool' must be given"),
            verify("{kind: tool, tool: judge}", "UNKNOWN_TOOL /plan/tasks/0/verify/0/tool no tool 'judge'"),
            verify("{kind: tool, tool: approval}",
                    "INVALID_VALUE /plan/tasks/0/verify/0/tool 'approval' cannot be used here"),
            verify("{kind: tool, tool: verify.jq, input: {expresion: .}}",
                    "TOOL_INPUT_INVALID /plan/tasks/0/verify/0/input 'expresion'",
                    "TOOL_INPUT_INVALID /plan/tasks/0/verify/0/input 'expression' not found"),
            verify("{kind: human}, {kind: jq, expression: .}",
                    "INVALID_VALUE /plan/tasks/0/verify/0/kind put this entry last"),
            verify("{kind: human, tool: noop}", "INVALID_VALUE /plan/tasks/0/verify/0/tool not for kind human"),
            verify("{kind: jq, expression: ., output: '${ .tasks.ghost.output }'}",
                    "UNKNOWN_REFERENCE /plan/tasks/0/verify/0 names task 'ghost'"),
            verify("{kind: jq, expression: ., output: '${ .output }'}",
                    "UNKNOWN_REFERENCE /plan/tasks/0/verify/0 names '.output'"),
            verify("{kind: jq, expression: ., ouput: 1}", "UNKNOWN_KEY /plan/tasks/0/verify/0/ouput 'output'?"),
            task("id: a, steps: [{name: verify-1, tool: noop}], verify: [{kind: jq, expression: .}]",
                    "DUPLICATE_NAME /plan/tasks/0/verify/0 is called 'verify-1'"));

    static final List<Arguments> INPUTS = List.of(
            inputs("{path: {type: string}}", "{}", "INPUT_MISSING /input/path is required"),
            inputs("{path: {default: x}}", "{pat: y}", "INPUT_UNKNOWN /input/pat did you mean 'path'?; declared: path"),
            inputs("{}", "{path: y}", "INPUT_UNKNOWN /input/path no input 'path' is declared"),
            inputs("{n: {type: integer}}", "{n: x}", "INPUT_INVALID /input/n integer expected"),
            inputs("{a: {type: array, items: {type: string}}}", "{a: [x, 5]}", "INPUT_INVALID /input/a/1 string"),
            inputs("{n: {type: integer, default: x}}", "{}", "INPUT_INVALID /inputs/n/default integer expected"),
            inputs("{n: {type: string, pattern: '^(a+)+$'}}", "{n: " + "a".repeat(5_000) + "b}",
                    "INPUT_INVALID /input/n does not match"),
            inputs("{path: string}", "{}", "WRONG_TYPE /inputs/path expected object, found string",
                    "INPUT_MISSING /input/path is required"),
            inputs("{path: {typ: string, default: 1}}", "{}", "UNKNOWN_KEY /inputs/path/typ did you mean 'type'?"),
            inputs("{path: {type: text, default: 1}}", "{}", "INVALID_SCHEMA /inputs/path/type must be one of array"),
            inputs("{p: {default: 1, items: {$ref: 'http://127.0.0.1/x'}}}", "{}",
                    "INVALID_SCHEMA /inputs/p/items/$ref '$ref' is not supported"),
            inputs("{p: {default: 1, items: {$ref: '#'}}}", "{}",
                    "INVALID_SCHEMA /inputs/p/items/$ref is not supported"),
            inputs("{p: {default: 1, pattern: '(?=x)'}}", "{}", "INVALID_SCHEMA /inputs/p/pattern RE2"),
            inputs("{p: {default: 1, anyOf: [{pattern: '('}]}}", "{}", "INVALID_SCHEMA /inputs/p/anyOf/0/pattern RE2"),
            inputs("{'a b': {default: 1}}", "{}", "INVALID_VALUE '/inputs/a b' letters, digits, _ and -"));

    @ParameterizedTest(name = "[{index}] {0}")
    @FieldSource({"SHAPES", "CONFIGS", "TASKS", "STEPS", "VERIFIERS", "INPUTS"})
    void aBadMissionIsRefusedWithAllItsProblems(Shown document, List<String> rows) {
        assertThat(Missions.problems(document.text(), Format.YAML)).zipSatisfy(rows, BadMissionsTest::assertProblem);
    }

    private static void assertProblem(PlanProblem problem, String row) {
        String[] parts = row.matches("\\S+ '.*") ? row.split(" '|' ", 3) : row.split(" ", 3);
        assertThat(problem.code()).as("code of %s", problem).isEqualTo(parts[0]);
        assertThat(problem.pointer()).as("pointer of %s", problem).isEqualTo(parts[1]);
        assertThat(problem.message()).contains(parts[2]).hasSizeLessThan(1_000);
    }

    @Test
    void shapeMeaningAndPlanAreJudgedTogether() {
        assertThat(Missions.problems("""
                name: m
                color: red
                config: {max_agents: none}
                inputs: {path: {type: string}}
                plan:
                  tasks:
                    - {id: a, depends_on: [b], steps: [{tool: teleport, input: 5}]}
                    - {id: b, depends_on: [a], steps: [{tool: wait, input: {}}, {kind: approval, tool: noop}]}
                """, Format.YAML)).extracting(PlanProblem::code).containsExactlyInAnyOrder("UNKNOWN_KEY", "WRONG_TYPE",
                "WRONG_TYPE", "INPUT_MISSING", "UNKNOWN_TOOL", "TOOL_INPUT_INVALID", "INVALID_VALUE",
                "DEPENDENCY_CYCLE");
    }

    @Test
    void thereIsABoundOfTasksAndOfStepsInATask() {
        String tasks = "{},".repeat(10_001);
        assertThat(Missions.problems("{\"name\":\"m\",\"plan\":{\"tasks\":[" + tasks + "{}]}}", Format.YAML))
                .contains(new PlanProblem("TOO_MANY", "/plan/tasks", "at most 10000 are allowed, these are 10002"))
                .hasSize(Problems.LISTED + 1).last().satisfies(last -> {
                    assertThat(last.code()).isEqualTo("TOO_MANY_PROBLEMS");
                    assertThat(last.message()).contains("9003 more");
                });
        String steps = "{\"tool\":\"noop\"},".repeat(1_000);
        assertThat(Missions.problems(
                "{\"name\":\"m\",\"plan\":{\"tasks\":[{\"id\":\"a\",\"steps\":[" + steps + "{\"tool\":\"noop\"}]}]}}",
                Format.JSON)).containsExactly(
                        new PlanProblem("TOO_MANY", "/plan/tasks/0/steps", "at most 1000 are allowed, these are 1001"));
    }

    /** A document whose display stays short. */
    record Shown(String text) {
        @Override
        public String toString() {
            return Pointers.shown(text);
        }
    }

    private static Arguments row(String document, String... problems) {
        return Arguments.of(new Shown(document), List.of(problems));
    }

    private static Arguments mission(String members, String... problems) {
        return row("{name: m, " + members + ", plan: {tasks: []}}", problems);
    }

    private static Arguments config(String members, String... problems) {
        return mission("config: {" + members + "}", problems);
    }

    private static Arguments inputs(String declared, String given, String... problems) {
        return mission("inputs: " + declared + ", input: " + given, problems);
    }

    private static Arguments task(String members, String... problems) {
        return row("{name: m, plan: {tasks: [{" + members + "}]}}", problems);
    }

    private static Arguments verify(String entries, String... problems) {
        return task("id: a, verify: [" + entries + "]", problems);
    }

    private static Arguments step(String members, String... problems) {
        return task("id: a, steps: [{" + members + "}]", problems);
    }
}
