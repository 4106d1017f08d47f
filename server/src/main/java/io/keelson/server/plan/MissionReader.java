package io.keelson.server.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanCheck;
import io.keelson.core.plan.Problem;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.ToolKnowledge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads what is to become a run: the published schema judges its shape, this class gives it its meaning, and the
 * core's plan check judges the plan as a whole. All that they find is said together. Safe for use by many threads.
 */
public final class MissionReader {
    private static final int NAME_LENGTH = 200;
    private static final int PRIORITY = 100;

    private final SchemaCheck shape = new SchemaCheck("mission");
    private final ToolKnowledge tools;
    private final Function<String, Duration> toolTimeout;

    /** @param toolTimeout how long a call of a tool may take when its step says nothing; asked for unknown tools too */
    public MissionReader(ToolKnowledge tools, Function<String, Duration> toolTimeout) {
        this.tools = tools;
        this.toolTimeout = toolTimeout;
    }

    /** A mission file or a request's body. */
    public Reading<Mission> read(byte[] bytes, Format format) {
        return switch (Documents.read(bytes, format)) {
            case Reading.Done<JsonNode>(JsonNode document) -> read(document);
            case Reading.Refused<JsonNode>(List<Problem> problems) -> new Reading.Refused<>(problems);
        };
    }

    /** @param document as {@link Documents} gives it; not changed */
    public Reading<Mission> read(JsonNode document) {
        Problems problems = new Problems();
        problems.addAll(shape.check(document));
        if (!document.isObject()) {
            return new Reading.Refused<>(problems.all());
        }
        if (!document.has("plan") && !document.has("recipe")) {
            problems.add("PLAN_REQUIRED", "/plan", "this release has no planner: give a plan");
        }
        TaskReader taskReader = new TaskReader(new StepReader(toolTimeout, problems), problems);
        Plan plan = plan(document.path("plan"), taskReader);
        String name = name(document, problems);
        ObjectNode declarations = Nodes.object(document, "inputs");
        ObjectNode input = new InputValues(declarations, problems).resolve(Nodes.object(document, "input"));
        List<Problem> followUps = new ArrayList<>(
                PlanCheck.check(plan, tools, Set.copyOf(declarations.propertyNames())));
        followUps.addAll(output(document, plan, declarations));
        followUps.removeIf(problem -> problems.cover(problem.pointer()));
        followUps.forEach(problem -> problems.add(problem.code(), asWritten(document, problem), problem.message()));
        return problems.isEmpty()
                ? new Reading.Done<>(mission(document, name, plan, taskReader, declarations, input))
                : new Reading.Refused<>(problems.all());
    }

    private static Mission mission(JsonNode document, String name, Plan plan, TaskReader tasks,
            ObjectNode declarations, ObjectNode input) {
        ObjectNode config = Nodes.object(document, "config");
        return new Mission(name, Nodes.text(document, "goal", Nodes.text(document, "task", name)),
                Nodes.text(document, "description"), plan, normal(document.path("plan"), plan, tasks), config,
                Configs.policy(config), declarations, input, Nodes.integer(document, "priority", PRIORITY),
                Nodes.text(document, "agent_slug"), Nodes.text(document, "trigger"),
                document.path("tags").values().stream().map(JsonNode::asString).toList(),
                Nodes.text(document, "external_id"), document.path("start").asBoolean(false),
                Nodes.json(document, "output"));
    }

    static Plan plan(JsonNode raw, TaskReader reader) {
        List<TaskSpec> tasks = new ArrayList<>();
        for (int i = 0; i < raw.path("tasks").size() && raw.path("tasks").isArray(); i++) {
            tasks.add(reader.read(raw.path("tasks").path(i), i, "/plan/tasks/" + i));
        }
        return new Plan(Nodes.integer(raw, "version", 1), tasks);
    }

    private static ObjectNode normal(JsonNode raw, Plan plan, TaskReader reader) {
        ObjectNode normal = JsonNodeFactory.instance.objectNode();
        normal.put("version", plan.version()).put("strategy", Nodes.text(raw, "strategy", "mixed"));
        ArrayNode tasks = normal.putArray("tasks");
        for (int i = 0; i < plan.tasks().size(); i++) {
            tasks.add(reader.normal(raw.path("tasks").path(i), plan.tasks().get(i)));
        }
        raw.properties().forEach(member -> normal.putIfAbsent(member.getKey(), member.getValue()));
        return normal;
    }

    private static String name(JsonNode document, Problems problems) {
        String goal = Nodes.text(document, "goal", Nodes.text(document, "task", ""));
        if (!goal.equals(Nodes.text(document, "task", goal))) {
            problems.add("INVALID_VALUE", "/task", "goal and task are the same thing: leave one out");
        }
        if (!document.has("name") && !document.has("goal") && !document.has("task")) {
            problems.add("REQUIRED", "/name", "a name, a goal or both must be given");
        }
        String line = goal.lines().filter(each -> !each.isBlank()).findFirst().orElse("").strip();
        String start = line.codePoints().limit(NAME_LENGTH)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
        return Nodes.text(document, "name", start.isEmpty() ? "run" : start);
    }

    /** The run's output may name any task, since all have ended by then. */
    private List<Problem> output(JsonNode document, Plan plan, ObjectNode declarations) {
        String template = Nodes.json(document, "output");
        if (template == null) {
            return List.of();
        }
        List<Problem> found = new ArrayList<>(tools.checkTemplate(template, "/output"));
        ToolKnowledge.Names names = tools.namesInTemplate(template);
        Set<String> tasks = new HashSet<>(plan.tasks().stream().map(TaskSpec::id).toList());
        names.tasks().stream().filter(task -> !tasks.contains(task))
                .forEach(task -> found.add(unknown("task", task, "which does not exist")));
        names.inputs().stream().filter(input -> !declarations.has(input))
                .forEach(input -> found.add(unknown("input", input, "which is not declared")));
        return found;
    }

    private static Problem unknown(String kind, String name, String why) {
        return new Problem("UNKNOWN_REFERENCE", "/output",
                "the expression names " + kind + " '" + Pointers.shown(name) + "', " + why);
    }

    /** The plan check speaks of a task's {@code id}; a document may have written {@code temp_id}. */
    private static String asWritten(JsonNode document, Problem problem) {
        String pointer = problem.pointer();
        return pointer.endsWith("/id") && document.at(pointer).isMissingNode()
                ? pointer.substring(0, pointer.length() - "id".length()) + "temp_id"
                : pointer;
    }
}
