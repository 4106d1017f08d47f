package io.keelson.server.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanCheck;
import io.keelson.core.plan.Problem;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads what a planner answers: {@code {"tasks": […]}}, the work that is left. Tasks that completed stay in the plan
 * and can be depended on; whatever else the old plan had goes. Safe for use by many threads.
 */
public final class NewPlans {
    private static final int MOST_TASKS = 10_000;
    private static final Pattern TASK = Pattern.compile("/plan/tasks/(\\d{1,9})");

    private final SchemaCheck shape = new SchemaCheck("mission");
    private final ToolKnowledge tools;
    private final Function<String, Duration> toolTimeout;

    /**
     * @param json as it is to be stored, and as {@link StoredPlans} reads it
     */
    public record Checked(Plan plan, String json) {}

    /** @param toolTimeout how long a call of a tool may take when its step says nothing */
    public NewPlans(ToolKnowledge tools, Function<String, Duration> toolTimeout) {
        this.tools = tools;
        this.toolTimeout = toolTimeout;
    }

    /**
     * @param answer the planner's output
     * @param old the plan as it is stored
     * @param completed ids of its tasks that have completed
     * @param inputs names of the run's inputs
     */
    public Reading<Checked> read(JsonNode answer, JsonNode old, Set<String> completed, Set<String> inputs) {
        Problems problems = new Problems();
        problems.addAll(shape.check(document(answer)));
        if (!answer.path("tasks").isArray()) {
            return new Reading.Refused<>(problems.all());
        }
        List<JsonNode> kept = old.path("tasks").valueStream()
                .filter(task -> completed.contains(Nodes.text(task, "temp_id", ""))).toList();
        ObjectNode merged = merged(answer, old, kept);
        TaskReader reader = new TaskReader(new StepReader(toolTimeout, problems), RetryPolicy.TASK, problems);
        Plan plan = MissionReader.plan(merged, reader);
        if (plan.tasks().size() > MOST_TASKS) {
            problems.add("TOO_MANY", "/plan/tasks", "at most " + MOST_TASKS + " are allowed, these are "
                    + plan.tasks().size() + " with those that have completed");
        }
        if (problems.isEmpty()) {
            PlanCheck.check(plan, tools, inputs).stream().filter(problem -> !isOf(kept, problem))
                    .forEach(problems::add);
        }
        return problems.isEmpty()
                ? new Reading.Done<>(new Checked(plan, MissionReader.normal(merged, plan, reader).toString()))
                : new Reading.Refused<>(problems.all());
    }

    /** A mission with this plan, for the published schema to judge. */
    private static ObjectNode document(JsonNode answer) {
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("name", "plan");
        document.set("plan", answer);
        return document;
    }

    private static ObjectNode merged(JsonNode answer, JsonNode old, List<JsonNode> kept) {
        Set<String> stay = kept.stream().map(task -> Nodes.text(task, "temp_id", "")).collect(Collectors.toSet());
        ObjectNode merged = ((ObjectNode) answer).deepCopy();
        merged.put("version", Nodes.integer(old, "version", 1) + 1);
        ArrayNode tasks = merged.putArray("tasks");
        kept.forEach(task -> tasks.add(independent(task, stay)));
        answer.path("tasks").valueStream().filter(task -> !stay.contains(id(task))).forEach(tasks::add);
        return merged;
    }

    /** What a completed task depended on may be gone. */
    private static JsonNode independent(JsonNode task, Set<String> stay) {
        ObjectNode copy = ((ObjectNode) task).deepCopy();
        List<JsonNode> upstreams = new ArrayList<>();
        copy.path("depends_on").valueStream()
                .filter(each -> stay.contains(each.isString() ? each.stringValue() : Nodes.text(each, "task", "")))
                .forEach(upstreams::add);
        copy.putArray("depends_on").addAll(upstreams);
        return copy;
    }

    /** What has completed may name what is gone; it is not done again. */
    private static boolean isOf(List<JsonNode> kept, Problem problem) {
        Matcher task = TASK.matcher(problem.pointer());
        return task.lookingAt() && Integer.parseInt(task.group(1)) < kept.size();
    }

    private static String id(JsonNode task) {
        return Nodes.text(task, "id", Nodes.text(task, "temp_id", ""));
    }
}
