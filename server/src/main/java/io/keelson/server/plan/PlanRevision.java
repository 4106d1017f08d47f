package io.keelson.server.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanCheck;
import io.keelson.core.plan.Problem;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads the new plan of a run that is under way: its finished tasks stay, and what the new plan names comes beside them
 * and may depend on them. Judged as a mission's plan is. Safe for use by many threads.
 */
public final class PlanRevision {
    private static final int MOST_TASKS = 10_000;
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    /** @param json as it is to be stored; reading it gives the plan */
    public record Revised(Plan plan, String json) {}

    private final SchemaCheck shape = new SchemaCheck("mission");
    private final ToolKnowledge tools;
    private final Function<String, Duration> toolTimeout;
    private final StoredPlans stored;

    /** @param toolTimeout how long a call of a tool may take when its step says nothing */
    public PlanRevision(ToolKnowledge tools, Function<String, Duration> toolTimeout) {
        this.tools = tools;
        this.toolTimeout = toolTimeout;
        this.stored = new StoredPlans(toolTimeout);
    }

    /**
     * @param old the run's plan as it is stored
     * @param version of the new plan
     * @param finished ids of the old plan's tasks that stay
     * @param inputs names that expressions may use below {@code .inputs}
     * @param answer a plan document; problems point into a document that has it as its {@code plan}
     */
    public Reading<Revised> read(String old, int version, Set<String> finished, Set<String> inputs, JsonNode answer) {
        Problems problems = new Problems();
        problems.addAll(shape.check(JsonNodeFactory.instance.objectNode().put("name", "plan").set("plan", answer)));
        if (!answer.isObject()) {
            return new Reading.Refused<>(problems.all());
        }
        TaskReader reader = new TaskReader(new StepReader(toolTimeout, problems), RetryPolicy.TASK, problems);
        Plan made = MissionReader.plan(answer, reader);
        size(made, finished, problems);
        List<Problem> followUps = new ArrayList<>(names(made, finished));
        followUps.addAll(PlanCheck.check(beside(made, finished), new Knowing(tools, finished), inputs));
        followUps.removeIf(problem -> problems.cover(problem.pointer()));
        problems.addAll(followUps);
        if (!problems.isEmpty()) {
            return new Reading.Refused<>(problems.all());
        }
        String json = join(MAPPER.readTree(old), version, finished, answer, made, reader).toString();
        return new Reading.Done<>(new Revised(stored.read(json), json));
    }

    private static void size(Plan made, Set<String> finished, Problems problems) {
        if (made.tasks().isEmpty()) {
            problems.add("EMPTY", "/plan/tasks", "a new plan must name at least one task");
        } else if (made.tasks().size() + finished.size() > MOST_TASKS) {
            problems.add("TOO_MANY", "/plan/tasks", "at most " + MOST_TASKS + " are allowed, with the finished ones "
                    + "these are " + (made.tasks().size() + finished.size()));
        }
    }

    private static List<Problem> names(Plan made, Set<String> finished) {
        List<Problem> problems = new ArrayList<>();
        for (int i = 0; i < made.tasks().size(); i++) {
            String id = made.tasks().get(i).id();
            if (finished.contains(id)) {
                problems.add(new Problem("TASK_FINISHED", "/plan/tasks/" + i, "task '" + Pointers.shown(id)
                        + "' is finished and stays: leave it out, or give the new one another id"));
            }
        }
        return problems;
    }

    /** The new tasks at their places, and behind them what stands for the finished ones that they may depend on. */
    private static Plan beside(Plan made, Set<String> finished) {
        List<TaskSpec> tasks = new ArrayList<>(made.tasks());
        Set<String> taken = Set.copyOf(made.tasks().stream().map(TaskSpec::id).toList());
        finished.stream().filter(id -> !taken.contains(id)).sorted().forEach(id -> tasks.add(new TaskSpec(id, id, null,
                "other", null, List.of(), TriggerRule.ALL_SUCCESS, null, null, null, false, List.of(), null)));
        return new Plan(made.version(), tasks);
    }

    private static ObjectNode join(JsonNode old, int version, Set<String> finished, JsonNode answer, Plan made,
            TaskReader reader) {
        ObjectNode plan = JsonNodeFactory.instance.objectNode();
        plan.put("version", version).put("strategy", Nodes.text(answer, "strategy", "mixed"));
        ArrayNode tasks = plan.putArray("tasks");
        for (JsonNode task : old.path("tasks")) {
            if (finished.contains(Nodes.text(task, "temp_id", ""))) {
                tasks.add(kept((ObjectNode) task, finished));
            }
        }
        for (int i = 0; i < made.tasks().size(); i++) {
            tasks.add(reader.normal(answer.path("tasks").path(i), made.tasks().get(i)));
        }
        answer.properties().forEach(member -> plan.putIfAbsent(member.getKey(), member.getValue()));
        return plan;
    }

    /** A finished task as it was, without upstreams that are there no longer. */
    private static ObjectNode kept(ObjectNode task, Set<String> finished) {
        ArrayNode upstreams = JsonNodeFactory.instance.arrayNode();
        for (JsonNode each : task.path("depends_on")) {
            if (finished.contains(each.isString() ? each.stringValue() : Nodes.text(each, "task", ""))) {
                upstreams.add(each);
            }
        }
        task.set("depends_on", upstreams);
        return task;
    }

    /** As the tools say, but for names of finished tasks: whoever names those may do so. */
    private record Knowing(ToolKnowledge tools, Set<String> finished) implements ToolKnowledge {
        @Override
        public boolean knows(String tool) {
            return tools.knows(tool);
        }

        @Override
        public List<Problem> checkInput(StepSpec step, String pointer) {
            return tools.checkInput(step, pointer);
        }

        @Override
        public List<Problem> checkExpression(String expression, String pointer) {
            return tools.checkExpression(expression, pointer);
        }

        @Override
        public List<Problem> checkTemplate(String json, String pointer) {
            return tools.checkTemplate(json, pointer);
        }

        @Override
        public Names namesInExpression(String expression) {
            return others(tools.namesInExpression(expression));
        }

        @Override
        public Names namesInTemplate(String json) {
            return others(tools.namesInTemplate(json));
        }

        private Names others(Names names) {
            Collection<String> others = names.tasks().stream().filter(task -> !finished.contains(task)).toList();
            return new Names(others, names.steps(), names.inputs());
        }
    }
}
