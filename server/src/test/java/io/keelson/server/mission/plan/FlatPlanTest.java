package io.keelson.server.mission.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Flow;
import io.keelson.core.plan.TaskSpec;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Plans with switches and groups, as the engine gets them. */
class FlatPlanTest {
    private static final String ROUTE = """
            name: route
            inputs: {kind: {type: string, default: bug}}
            plan:
              tasks:
                - {id: read, steps: [{tool: echo, input: {kind: "${ .inputs.kind }"}}]}
                - id: route
                  depends_on: [read]
                  switch:
                    - name: bug
                      when: .tasks.read.output.kind == "bug"
                      tasks:
                        - {id: fix, steps: [{tool: noop}]}
                        - {id: test, depends_on: [fix], steps: [{tool: noop}]}
                    - when: "${ .inputs.kind == \\"question\\" }"
                      tasks: [{id: answer, when: "${ .inputs.kind != \\"\\" }"}]
                    - else: [{id: file, trigger_rule: all_done, steps: [{tool: noop}]}]
                - {id: close, depends_on: [route], steps: [{tool: noop}]}
            """;

    @Test
    void switchBecomesChoiceBranchesAndEnd() {
        List<TaskSpec> tasks = Missions.yaml(ROUTE).plan().tasks();

        assertThat(tasks).extracting(FlatPlanTest::shown).containsExactly("read", "route.switch < read",
                "fix < (route.switch)", "test < fix", "answer < (route.switch) read", "file < (route.switch)",
                "route < (route.switch) test answer file", "close < route");
        assertThat(tasks.get(1).steps().getFirst().input()).isEqualTo(
                "{\"branch\":\"${ if (.tasks.read.output.kind == \\\"bug\\\"\\n) then \\\"bug\\\""
                        + " elif ( .inputs.kind == \\\"question\\\" \\n) then \\\"2\\\" else \\\"else\\\" end }\"}");
        assertThat(tasks.get(1).agent()).as("starts over alone").isEqualTo("route.switch");
        assertThat(tasks.get(2).when()).isEqualTo("${ (.tasks[\"route.switch\"].output.branch == \"bug\") }");
        assertThat(tasks.get(3).when()).as("follows fix").isNull();
        assertThat(tasks.get(4).when()).isEqualTo("${ (.tasks[\"route.switch\"].output.branch == \"2\") and"
                + " ( .inputs.kind != \"\" \n) }");
        assertThat(tasks.get(3).policy().flow())
                .isEqualTo(new Flow(null, null, List.of(), List.of(new Flow.Place("route", "bug"))));
        assertThat(tasks.get(1).policy().flow()).extracting(Flow::chooses).isEqualTo("route");
        assertThat(tasks.get(6).policy().flow()).extracting(Flow::ends).isEqualTo("route");
    }

    @Test
    void storedPlanIsReadUnchanged() {
        CheckedMission mission = Missions.yaml(ROUTE);
        ObjectNode again = Json.object().put("name", "again");
        again.set("inputs", Json.read("{\"kind\": {\"type\": \"string\", \"default\": \"bug\"}}"));
        again.set("plan", mission.planJson());
        CheckedMission read = Missions.json(again.toString());

        assertThat(read.planJson()).isEqualTo(mission.planJson());
        assertThat(read.plan()).isEqualTo(mission.plan());
    }

    @Test
    void dependencyOnGroupWaitsForItsEndsAndGroupsBeginnersForItsUpstreams() {
        List<TaskSpec> tasks = Missions.yaml("""
                name: groups
                plan:
                  tasks:
                    - {id: prepare, steps: [{tool: noop}]}
                    - id: build
                      depends_on: [{task: prepare, type: ordering}]
                      group:
                        - {id: get, steps: [{tool: noop}]}
                        - id: parts
                          depends_on: [get]
                          output: "${ .tasks[\\"build.parts.b\\"].output }"
                          group:
                            - {id: a, steps: [{tool: noop}]}
                            - {id: b, steps: [{tool: noop}]}
                        - {id: docs, depends_on: [get], steps: [{tool: noop}]}
                        - {id: link, depends_on: [parts], steps: [{tool: echo, input: {b: "${ .tasks[\\"build.parts\\"].output }"}}]}
                    - {id: ship, depends_on: [build], steps: [{tool: noop}]}
                    - {id: peek, depends_on: [build.parts.a], steps: [{tool: noop}]}
                """).plan().tasks();

        assertThat(tasks).extracting(FlatPlanTest::shown).containsExactly("prepare", "build.get < (prepare)",
                "build.parts.a < build.get", "build.parts.b < build.get", "build.parts < build.parts.a build.parts.b",
                "build.docs < build.get", "build.link < build.parts", "ship < build.docs build.link",
                "peek < build.parts.a");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            id: s, switch: []                                        | EMPTY /plan/tasks/0/switch
            id: s, switch: {}                                        | WRONG_TYPE /plan/tasks/0/switch
            id: s, group: []                                         | EMPTY /plan/tasks/0/group
            switch: [{else: []}]                                     | REQUIRED /plan/tasks/0/id
            id: s, switch: [{tasks: []}]                             | REQUIRED /plan/tasks/0/switch/0/when
            id: s, switch: [{when: 'true'}]                          | REQUIRED /plan/tasks/0/switch/0/tasks
            id: s, switch: [{when: '', tasks: []}]                   | EMPTY /plan/tasks/0/switch/0/when
            id: s, switch: [{when: '.a +', tasks: []}]               | EXPRESSION_SYNTAX /plan/tasks/0/switch/0/when
            id: s, switch: [{when: 'true) or (false', tasks: []}]    | EXPRESSION_SYNTAX /plan/tasks/0/switch/0/when
            id: s, switch: [{when: .inputs.x, tasks: []}]            | UNKNOWN_REFERENCE /plan/tasks/0/switch/0/when
            id: s, switch: [{when: .item, tasks: []}]                | UNKNOWN_REFERENCE /plan/tasks/0/switch/0/when
            id: s, switch: [{when: secret("a"), tasks: []}]         | SECRET_NOT_ALLOWED /plan/tasks/0/switch/0/when
            id: s, switch: [{when: .tasks.t.output, tasks: []}]      | REFERENCE_NOT_UPSTREAM /plan/tasks/0/switch/0/when
            id: s, switch: [{else: []}, {when: 'true', tasks: []}]   | SWITCH_ELSE_NOT_LAST /plan/tasks/0/switch/0/else
            id: s, switch: [{else: [], when: 'true'}]                | FLOW_MEMBER /plan/tasks/0/switch/0/when
            id: s, switch: [{name: a, when: 'true', tasks: []}, {name: a, else: []}] | DUPLICATE_NAME /plan/tasks/0/switch/1/name
            id: s, switch: [{when: 'true', tasks: [], if: x}]        | UNKNOWN_KEY /plan/tasks/0/switch/0/if
            id: s, switch: [{else: []}], steps: [{tool: noop}]       | FLOW_MEMBER /plan/tasks/0/steps
            id: s, switch: [{else: []}], group: [{id: a}]            | FLOW_MEMBER /plan/tasks/0/group
            id: s, group: [{id: a}], when: '${ true }'               | FLOW_MEMBER /plan/tasks/0/when
            id: s, group: [{id: a, steps: [{tool: no}]}]             | UNKNOWN_TOOL /plan/tasks/0/group/0/steps/0/tool
            id: s, group: [{id: a, depends_on: [b]}]                 | DEPENDENCY_UNKNOWN /plan/tasks/0/group/0/depends_on/0
            id: s, group: [{id: a, depends_on: [s]}]                 | DEPENDENCY_CYCLE /plan/tasks/0/group/0/depends_on
            id: s, group: [{id: a}, {id: a}]                         | DUPLICATE_NAME /plan/tasks/0/group/1/id
            id: s, group: [{id: a, depends_on: [t, t]}]              | DUPLICATE_NAME /plan/tasks/0/group/0/depends_on/1
            id: s, switch: [{else: [{id: t}]}]                       | DUPLICATE_NAME /plan/tasks/1/id
            id: s, switch: [{else: [{id: a, trigger_rule: always}]}] | FLOW_MEMBER /plan/tasks/0/switch/0/else/0/trigger_rule
            id: s, switch: [{when: 'true', tasks: [{id: a}]}, {else: [{id: b, depends_on: [a]}]}] | DEPENDENCY_OTHER_BRANCH /plan/tasks/0/switch/1/else/0/depends_on/0
            id: s, output: '${ .tasks.t.output }', switch: [{else: []}] | REFERENCE_NOT_UPSTREAM /plan/tasks/0/output
            id: s, switch: [{else: [{id: a, verify: [{kind: max_length, max: x}]}]}] | WRONG_TYPE /plan/tasks/0/switch/0/else/0/verify/0/max
            id: a, group: [{id: a, group: [{id: a, group: [{id: a, group: [{id: a, group: [{id: a, group: [{id: a}]}]}]}]}]}] | NESTED_TOO_DEEP /plan/tasks/0/group/0/group/0/group/0/group/0/group/0
            """)
    void badFlowIsRefusedAtItsPlace(String task, String problem) {
        String mission = "name: m\nplan:\n  tasks:\n    - {" + task + "}\n    - {id: t}\n";
        assertThat(Missions.problems(mission, Format.YAML)).extracting(each -> each.code() + " " + each.pointer())
                .contains(problem);
    }

    @Test
    void longIdsAndManyEndsAreRefused() {
        String name = "x".repeat(150);
        assertThat(Missions.problems("{name: m, plan: {tasks: [{id: " + name + ", group: [{id: " + name + "}]}]}}",
                Format.YAML)).extracting(each -> each.code() + " " + each.pointer())
                .contains("TOO_LONG /plan/tasks/0/group/0/id");
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 1_000; i++) {
            many.append(i == 0 ? "" : ", ").append("{id: t").append(i).append(", steps: [{tool: noop}]}");
        }
        assertThat(Missions.problems("{name: m, plan: {tasks: [{id: s, switch: [{else: [" + many + "]}]}]}}",
                Format.YAML)).extracting(each -> each.code() + " " + each.pointer())
                .contains("TOO_MANY /plan/tasks/0/switch");
    }

    /** Executes random nested plans twice: as they are written, and flat by the rules of the engine. */
    @Test
    void flatPlanDoesTheTasksOfTheChosenBranches() {
        Set<String> seen = new HashSet<>();
        for (int seed : Breadth.of(IntStream.range(0, 300).boxed().toList())) {
            Nested nested = new Nested(new Random(seed));
            CheckedMission mission = Missions.json(nested.mission());
            Set<String> done = flat(mission.plan().tasks(), nested.inputs);
            done.removeIf(id -> id.endsWith(".switch"));
            assertThat(done).as("seed %d: %s", seed, nested.mission())
                    .isEqualTo(nested.tasks.keySet().stream().filter(nested::completes).filter(nested::isTask)
                            .collect(Collectors.toSet()));
            seen.add(done.size() + " of " + mission.plan().tasks().size());
        }
        assertThat(seen).as("different plans").hasSizeGreaterThan(20);
    }

    private static String shown(TaskSpec task) {
        return task.id() + (task.dependsOn().isEmpty() ? "" : " < ") + task.dependsOn().stream()
                .map(up -> up.data() ? up.task() : "(" + up.task() + ")").collect(Collectors.joining(" "));
    }

    /** Ids of the tasks that complete. */
    private static Set<String> flat(List<TaskSpec> tasks, ObjectNode inputs) {
        Expressions expressions = new Expressions();
        Map<String, ObjectNode> ended = new HashMap<>();
        while (ended.size() < tasks.size()) {
            int before = ended.size();
            for (TaskSpec task : tasks) {
                List<String> upstreams = task.dependsOn().stream().map(Dependency::task).toList();
                if (ended.containsKey(task.id()) || !ended.keySet().containsAll(upstreams)) {
                    continue;
                }
                ObjectNode scope = Json.object();
                scope.set("inputs", inputs);
                ObjectNode tasksOf = scope.putObject("tasks");
                ended.forEach(tasksOf::set);
                int completed = (int) upstreams.stream()
                        .filter(up -> ended.get(up).get("state").stringValue().equals("completed")).count();
                boolean runs = task.triggerRule().holds(upstreams.size(), completed, 0)
                        && (task.when() == null || expressions.condition(task.when(), scope));
                ObjectNode end = Json.object().put("state", runs ? "completed" : "skipped");
                end.set("output", runs
                        ? expressions.resolve(Json.read(task.steps().getFirst().input()), scope)
                        : Json.read("null"));
                ended.put(task.id(), end);
            }
            assertThat(ended.size()).as("the plan continues").isGreaterThan(before);
        }
        return ended.entrySet().stream().filter(each -> each.getValue().get("state").stringValue().equals("completed"))
                .map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    /** A random plan, which is executed as it is written. */
    private static final class Nested {
        private record Item(JsonNode raw, @Nullable String parent, int branch, List<String> upstreams,
                List<List<String>> branches) {}

        final Map<String, Item> tasks = new HashMap<>();
        final ObjectNode inputs = Json.object();
        private final Random random;
        private final List<JsonNode> plan;
        private final Map<String, Boolean> known = new HashMap<>();
        private int number;

        Nested(Random random) {
            this.random = random;
            this.plan = items("", null, -1, 0, new ArrayList<>());
        }

        String mission() {
            ObjectNode mission = Json.object().put("name", "nested");
            ObjectNode declared = mission.putObject("inputs");
            inputs.propertyNames().forEach(name -> declared.putObject(name).put("default", 0));
            mission.putObject("plan").putArray("tasks").addAll(plan);
            return mission.toString();
        }

        private List<JsonNode> items(String prefix, @Nullable String parent, int branch, int depth, List<String> ids) {
            List<JsonNode> items = new ArrayList<>();
            int most = 1 + random.nextInt(4);
            for (int i = 0; i < most; i++) {
                String own = "t" + number++;
                String id = prefix + own;
                ObjectNode item = Json.object().put("id", own);
                List<String> upstreams = new ArrayList<>();
                for (String sibling : ids) {
                    if (random.nextInt(3) == 0) {
                        upstreams.add(sibling);
                    }
                }
                upstreams.forEach(up -> item.withArray("depends_on")
                        .add(random.nextBoolean() ? up : up.substring(prefix.length())));
                List<List<String>> branches = new ArrayList<>();
                int kind = depth > 2 ? 0 : random.nextInt(4);
                tasks.put(id, new Item(item, parent, branch, upstreams, branches));
                if (kind == 1) {
                    branches.add(new ArrayList<>());
                    items(id + ".", id, 0, depth + 1, branches.getFirst()).forEach(item.putArray("group")::add);
                    if (random.nextBoolean()) {
                        item.put("output", 1);
                    }
                } else if (kind == 2) {
                    branches(prefix, id, item, depth, branches);
                } else {
                    item.putArray("steps").addObject().put("tool", "noop");
                }
                ids.add(id);
                items.add(item);
            }
            return items;
        }

        private void branches(String prefix, String id, ObjectNode item, int depth, List<List<String>> branches) {
            for (int b = random.nextInt(3); b >= 0; b--) {
                branches.add(new ArrayList<>());
                ObjectNode branch = item.withArray("switch").addObject();
                boolean last = b == 0 && random.nextBoolean();
                String input = "c" + number++;
                if (!last) {
                    inputs.put(input, random.nextBoolean());
                    branch.put("when", ".inputs." + input);
                }
                items(prefix, id, branches.size() - 1, depth + 1, branches.getLast())
                        .forEach(branch.putArray(last ? "else" : "tasks")::add);
            }
        }

        /** Whether a task of the flat plan has its name. */
        boolean isTask(String id) {
            JsonNode raw = item(id).raw;
            return !raw.has("group") || raw.has("output");
        }

        boolean completes(String id) {
            Boolean earlier = known.get(id);
            if (earlier == null) {
                earlier = begins(id) && inner(id).stream().allMatch(this::completes);
                known.put(id, earlier);
            }
            return earlier;
        }

        private boolean begins(String id) {
            Item item = item(id);
            return (item.parent == null || begins(item.parent) && inner(item.parent).contains(id))
                    && item.upstreams.stream().allMatch(this::completes);
        }

        /** The entries of a group or of the chosen branch. */
        private List<String> inner(String id) {
            Item item = item(id);
            JsonNode branches = item.raw.path("switch");
            if (branches.isMissingNode()) {
                return item.branches.isEmpty() ? List.of() : item.branches.getFirst();
            }
            for (int b = 0; b < branches.size(); b++) {
                JsonNode branch = branches.get(b);
                if (branch.has("else")
                        || inputs.path(branch.get("when").stringValue().substring(8)).booleanValue()) {
                    return item.branches.get(b);
                }
            }
            return List.of();
        }

        private Item item(String id) {
            return Objects.requireNonNull(tasks.get(id));
        }
    }
}
