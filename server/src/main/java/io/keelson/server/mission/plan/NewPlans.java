package io.keelson.server.mission.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanCheck;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.RosterAgent;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command.Evaluation.Planned;
import io.keelson.server.base.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads a planner's answer: {@code {"tasks": […]}}, the remaining work. Completed tasks stay in the plan
 * and can be depended on; all others of the old plan are removed. Thread-safe.
 */
public final class NewPlans {
    private static final int MAX_TASKS = 10_000;

    private final Function<UUID, ToolKnowledge> tools;
    private final Function<String, Duration> toolTimeout;
    private final Function<UUID, ModelRules> models;
    private final Function<UUID, List<RosterAgent>> roster;

    /**
     * @param json the form to store, which {@link StoredPlans} reads
     */
    public record Checked(Plan plan, String json) {}

    /**
     * @param tools of a workspace
     * @param toolTimeout how long a call of a tool may take when its step says nothing
     * @param models which models a workspace's plans may name
     * @param roster a workspace's agents
     */
    public NewPlans(Function<UUID, ToolKnowledge> tools, Function<String, Duration> toolTimeout,
            Function<UUID, ModelRules> models, Function<UUID, List<RosterAgent>> roster) {
        this.roster = roster;
        this.tools = tools;
        this.toolTimeout = toolTimeout;
        this.models = models;
    }

    /** Without a price list and a roster. */
    public NewPlans(ToolKnowledge tools, Function<String, Duration> toolTimeout) {
        this(workspace -> tools, toolTimeout, workspace -> ModelRules.UNKNOWN, workspace -> List.of());
    }

    /**
     * @param workspace whose agents may be given tasks
     * @param given the planner's output; problems point into a document that has it as its {@code plan}
     * @param config the run's
     * @param old the stored plan
     * @param completed ids of its tasks that have completed
     * @param inputs names of the run's inputs
     */
    public ReadResult<Checked> read(UUID workspace, JsonNode given, JsonNode config, JsonNode old,
            Set<String> completed, Set<String> inputs) {
        return read(workspace, given, config, old, completed, inputs, MadePlans.by(config));
    }

    /**
     * Reads a plan that a person gives instead of a plan without completed tasks.
     *
     * @param given problems point into a document that has it as its {@code plan}
     */
    public ReadResult<Checked> edited(UUID workspace, JsonNode given, JsonNode config, JsonNode old,
            Set<String> inputs) {
        return read(workspace, given, config, old, Set.of(), inputs, false);
    }

    private ReadResult<Checked> read(UUID workspace, JsonNode given, JsonNode config, JsonNode old,
            Set<String> completed, Set<String> inputs, boolean byModel) {
        Problems problems = new Problems();
        JsonNode written = byModel ? MadePlans.unpriced(given) : given;
        problems.addAll(SchemaCheck.MISSION.check(document(written)));
        if (!written.path("tasks").isArray()) {
            return new ReadResult.Invalid<>(problems.all());
        }
        FlatPlan flat = FlatPlan.of(written);
        JsonNode answer = byModel ? MadePlans.unpriced(flat.plan()) : flat.plan();
        Problems ofPlan = new Problems();
        RunConfigReader.checkEstimates(answer, ofPlan);
        if (byModel) {
            MadePlans.check(answer, config, ofPlan);
        }
        ToolRules rules = new ToolRules(tools.apply(workspace).workspaceRule(), config);
        Plan left = MissionReader.plan(answer,
                reader(AgentAssignment.choosing(() -> roster.apply(workspace), null, models.apply(workspace), 0,
                        tools.apply(workspace)::openWorld, rules), tools.apply(workspace), config, ofPlan));
        size(left, completed, ofPlan);
        problems.addAll(flat.problems());
        problems.addAll(ofPlan, flat);
        List<PlanProblem> followUps = new ArrayList<>(names(left, completed));
        followUps.addAll(PlanCheck.check(beside(left, completed),
                exceptNames(tools.apply(workspace), completed), inputs));
        followUps.addAll(models.apply(workspace).check(config, answer, left));
        followUps.addAll(rules.check(answer, left, tools.apply(workspace)));
        flat.asWritten(followUps).stream().filter(problem -> !MissionReader.follows(problem, problems)).toList()
                .forEach(problems::add);
        return problems.isEmpty() ? new ReadResult.Ok<>(joined(workspace, answer, config, old, completed))
                : new ReadResult.Invalid<>(problems.all());
    }

    /** The tools, without the names of completed tasks in expressions: any expression may name those. */
    private static ToolKnowledge exceptNames(ToolKnowledge tools, Set<String> completed) {
        return new ForwardingToolKnowledge(tools) {
            @Override
            public Names namesInExpression(String expression) {
                return others(super.namesInExpression(expression));
            }

            @Override
            public Names namesInTemplate(String json) {
                return others(super.namesInTemplate(json));
            }

            @Override
            public Names namesInInput(StepSpec step) {
                return others(super.namesInInput(step));
            }

            private Names others(Names names) {
                return new Names(names.tasks().stream().filter(task -> !completed.contains(task)).toList(),
                        names.allTasks(), names.steps(), names.inputs(), names.roots(), names.rounds());
            }
        };
    }

    /** The approval of a first plan by a run's config, and the estimated cost of that plan. */
    public static Planned.Terms terms(JsonNode config, Checked made) {
        return RunConfigReader.terms(config, modelled((ObjectNode) Json.read(made.json())));
    }

    /** A plan in which the model of a task's agent counts as the task's suggested model. */
    private static ObjectNode modelled(ObjectNode plan) {
        plan.path("tasks").forEach(task -> {
            JsonNode model = task.path(AgentAssignment.key()).path("model");
            if (model.isString() && task instanceof ObjectNode object) {
                object.putIfAbsent("suggested_model", model);
            }
        });
        return plan;
    }

    private TaskReader reader(AgentAssignment agentAssignment, ToolKnowledge known, JsonNode config,
            Problems problems) {
        return new TaskReader(new StepReader(toolTimeout, problems), RetryPolicy.TASK, agentAssignment,
                new UntrustedInputs(known)::marked, config, problems);
    }

    /** A mission with this plan, for the published schema to judge. */
    private static ObjectNode document(JsonNode answer) {
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("name", "plan");
        document.set("plan", answer);
        return document;
    }

    private static void size(Plan left, Set<String> completed, Problems problems) {
        int all = left.tasks().size() + completed.size();
        if (left.tasks().isEmpty()) {
            problems.add("EMPTY", "/plan/tasks", "a new plan must name at least one task");
        } else if (all > MAX_TASKS) {
            problems.add("TOO_MANY", "/plan/tasks", "at most " + MAX_TASKS + " are allowed, these are " + all
                    + " with those that have completed");
        }
    }

    private static List<PlanProblem> names(Plan left, Set<String> completed) {
        List<PlanProblem> problems = new ArrayList<>();
        for (int i = 0; i < left.tasks().size(); i++) {
            String id = left.tasks().get(i).id();
            if (completed.contains(id)) {
                problems.add(new PlanProblem("DUPLICATE_NAME", "/plan/tasks/" + i + "/id", "task '" + Pointers.shown(id)
                        + "' has completed and stays in the plan: remove it, or use another id"));
            }
        }
        return problems;
    }

    /** The new tasks at their positions, followed by placeholders for the tasks that they may depend on. */
    private static Plan beside(Plan left, Set<String> completed) {
        List<TaskSpec> tasks = new ArrayList<>(left.tasks());
        Set<String> taken = left.tasks().stream().map(TaskSpec::id).collect(Collectors.toSet());
        completed.stream().filter(id -> !taken.contains(id)).forEach(id -> tasks.add(new TaskSpec(id, id, null,
                TaskType.OTHER, null, List.of(), TriggerRule.ALL_SUCCESS, null, null, null, false, List.of(), null)));
        return new Plan(left.version(), tasks, left.strategy());
    }

    private Checked joined(UUID workspace, JsonNode answer, JsonNode config, JsonNode old, Set<String> completed) {
        ObjectNode merged = ((ObjectNode) answer).deepCopy();
        merged.put("version", JsonFields.integer(old, "version", 1) + 1);
        ArrayNode tasks = merged.putArray("tasks");
        old.path("tasks").valueStream().filter(task -> completed.contains(JsonFields.text(task, "temp_id", "")))
                .forEach(task -> tasks.add(independent(task, completed)));
        answer.path("tasks").forEach(task -> tasks
                .add(((ObjectNode) task.deepCopy()).without(List.of(AgentAssignment.key(), LadderReader.STORED))));
        TaskReader reader =
                reader(AgentAssignment.keeping(() -> roster.apply(workspace), models.apply(workspace),
                        tools.apply(workspace)::openWorld,
                        new ToolRules(tools.apply(workspace).workspaceRule(), config)),
                        tools.apply(workspace), config, new Problems());
        Plan plan = MissionReader.plan(merged, reader);
        return new Checked(plan, MissionReader.normal(merged, plan, reader).toString());
    }

    /** The upstream tasks of a completed task may be gone. */
    private static JsonNode independent(JsonNode task, Set<String> stay) {
        ObjectNode copy = ((ObjectNode) task).deepCopy();
        List<JsonNode> upstreams = new ArrayList<>();
        copy.path("depends_on").valueStream()
                .filter(each -> stay.contains(each.isString() ? each.stringValue() : JsonFields.text(each, "task", "")))
                .forEach(upstreams::add);
        copy.putArray("depends_on").addAll(upstreams);
        return copy;
    }
}
