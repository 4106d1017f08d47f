package io.keelson.server.mission.plan;

import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.engine.tool.ApprovalRules;
import io.keelson.server.mission.plan.AgentAssignment.Hired;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Tasks of a plan: the core's form, and the form in which they are stored. */
final class TaskReader {
    /** Written otherwise, or not for a plan's author to say. */
    private static final Set<String> NOT_STORED =
            Set.of("id", "dependency_type", AgentAssignment.key(), LadderReader.STORED);
    static final String BUDGET = "budget_usd";
    /** A member of tasks, and of the configuration of runs. */
    static final String APPROVALS = "approvals";
    private static final String WORST_CASE = "worst_case";
    /** Also of a run's configuration. */
    private static final String UNTRUSTED = "untrusted_input";
    private static final String ORDERING = "ordering";
    private static final String TIMEOUT = "timeout_seconds";
    private static final String REPEAT = "repeat";
    private static final Pattern EXPRESSION = Pattern.compile("\\s*\\$\\{.*}\\s*", Pattern.DOTALL);
    /** The default timeout of an attempt of a contractor's task. */
    private static final Duration CONTRACTOR_TIMEOUT = Duration.ofSeconds(300);

    private final StepReader steps;
    private final VerifyReader verifiers;
    private final UndoReader undos;
    private final ReuseReader reuses;
    private final LadderReader ladders;
    private final RetryPolicy retry;
    private final AgentAssignment agentAssignment;
    private final UnaryOperator<List<TaskSpec>> marks;
    private final boolean untrusted;
    private final Problems problems;
    private final JsonNode timeouts;
    private final Map<JsonNode, Hired> hired = new IdentityHashMap<>();

    /**
     * @param retry defaults of a task's own policy
     * @param agentAssignment assigns agents to tasks without steps
     * @param marks marks tasks whose inputs may contain data from outside
     * @param config the run's: its ladder, the model that judges if a check names none, and whether its inputs come
     *            from outside
     */
    TaskReader(StepReader steps, RetryPolicy retry, AgentAssignment agentAssignment,
            UnaryOperator<List<TaskSpec>> marks, JsonNode config, Problems problems) {
        this.marks = marks;
        this.untrusted = config.path(UNTRUSTED).asBoolean(false);
        this.ladders = new LadderReader(config, agentAssignment, steps);
        this.timeouts = config.path("timeouts");
        this.agentAssignment = agentAssignment;
        this.steps = steps;
        this.undos = new UndoReader(steps, problems);
        this.reuses = new ReuseReader(problems);
        this.verifiers = new VerifyReader(steps, problems, VerifyReader.judge(config));
        this.retry = retry;
        this.problems = problems;
    }

    TaskSpec read(JsonNode raw, int index, String at) {
        String id = id(raw, index, at);
        String title = JsonFields.text(raw, "title", id);
        List<Dependency> upstreams = upstreams(raw);
        TaskType type = TaskType.of(JsonFields.text(raw, "task_type", TaskType.OTHER.wire()));
        Hired agent = raw.path("steps").isEmpty() ? agentAssignment.hire(raw, type) : agentAssignment.ofSteps(raw);
        if (agent != null) {
            hired.put(raw, agent);
            String missing = agentAssignment.missingModel(agent);
            if (missing != null) {
                problems.add("MODEL_NOT_CONFIGURED", at,
                        "the agent '" + Pointers.shown(String.valueOf(agent.terms().slug()))
                                + "' runs on the server, which has no model '" + Pointers.shown(missing) + "'");
            }
        }
        checkOutputSchema(raw, at);
        ApprovalRules.flaws(raw.path("limits").path("approvals")).forEach(flaw -> problems.add(flaw.code(),
                at + "/limits/approvals" + flaw.pointer(), flaw.message()));
        TaskPolicy policy = policy(raw, at, agent).climbing(ladders.read(raw, type, title, upstreams, agent));
        return new TaskSpec(id, title, JsonFields.text(raw, "description"), type,
                agent == null || agent.terms().slug() == null
                        ? JsonFields.text(raw.path("suggested_agent"), "agent_name")
                        : agent.terms().slug(),
                upstreams, triggerRule(raw),
                JsonFields.text(raw, "when"), JsonFields.text(raw, "for_each"), JsonFields.json(raw, "output"),
                "parallel".equals(JsonFields.text(raw, "parallelism")), steps(raw, at, title, upstreams, agent),
                JsonFields.text(raw, "success_criteria"), agent == null ? policy : policy.with(agent.terms()));
    }

    private void checkOutputSchema(JsonNode raw, String at) {
        if (raw.path("output_schema").isObject()) {
            new DeclaredSchema(raw.path("output_schema")).flaws().forEach(flaw -> problems.add("SCHEMA_INVALID",
                    at + "/output_schema" + flaw.pointer(), flaw.message()));
        }
    }

    private TaskPolicy policy(JsonNode raw, String at, @Nullable Hired agent) {
        TaskPolicy policy = new TaskPolicy(FailureConfig.mode(raw, "failure_mode"),
                raw.path("retry").isObject() ? Retries.read(raw.path("retry"), retry) : null,
                verifiers.read(raw, at + "/verify"), VerifyReader.review(raw.path("verify")),
                raw.path(TIMEOUT).isNumber() ? JsonFields.seconds(raw, TIMEOUT, Duration.ZERO)
                        : agentAssignment.hiresContractor(raw, agent) && !timeouts.has("task_seconds")
                                ? CONTRACTOR_TIMEOUT
                                : null);
        return policy.labelled(JsonFields.json(raw, "label"))
                .withThresholds(VerifyReader.thresholds(raw.path("verify")))
                .costing(raw.path(BUDGET).isNumber() ? raw.path(BUDGET).decimalValue() : null)
                .judgedBy(verifiers.judges(raw.path("verify")))
                .untrusted(untrusted || raw.path(UNTRUSTED).asBoolean(false))
                .unchained(!raw.path("chain").asBoolean(true))
                .repeated(raw.path(REPEAT).isObject() ? repeat(raw.path(REPEAT)) : null)
                .at(raw.path(FlatPlan.FLOW).isObject() ? StoredPlans.flow(raw.path(FlatPlan.FLOW)) : null)
                .undoneBy(undos.read(raw, at)).undoing(UndoReader.original(raw))
                .approvedBy(JsonFields.integer(raw, APPROVALS, 1)).reusing(reuses.read(raw, at));
    }

    private static Repeat repeat(JsonNode raw) {
        String until = JsonFields.text(raw, "until", "");
        return new Repeat(EXPRESSION.matcher(until).matches() ? until : "${ " + until + " }",
                JsonFields.integer(raw, "max", Repeat.DEFAULT_ROUNDS),
                JsonFields.delay(raw, "delay_seconds", Duration.ZERO),
                raw.path(BUDGET).isNumber() ? raw.path(BUDGET).decimalValue() : null,
                JsonFields.integer(raw, "keep", Repeat.DEFAULT_KEPT), raw.path("after").isObject()
                        ? new Repeat.After(JsonFields.integer(raw.path("after"), "round", 1),
                                Objects.requireNonNullElse(JsonFields.json(raw.path("after"), "output"), "null"))
                        : null,
                JsonFields.texts(raw.path("tasks")));
    }

    /** The tasks with marks on those whose inputs may contain data from outside. */
    List<TaskSpec> marked(List<TaskSpec> tasks) {
        return marks.apply(tasks);
    }

    /** As stored: {@code temp_id} first, defaults written out, keys of no meaning to us now kept. */
    ObjectNode normal(JsonNode raw, TaskSpec task) {
        ObjectNode normal = JsonNodeFactory.instance.objectNode();
        normal.put("temp_id", task.id()).put("title", task.title()).put("task_type", task.taskType().wire());
        ArrayNode dependsOn = normal.putArray("depends_on");
        for (Dependency upstream : task.dependsOn()) {
            if (upstream.data()) {
                dependsOn.add(upstream.task());
            } else {
                dependsOn.addObject().put("task", upstream.task()).put("type", ORDERING);
            }
        }
        normal.put("trigger_rule", task.triggerRule().wire());
        ArrayNode stored = normal.putArray("steps");
        for (int i = 0; i < raw.path("steps").size(); i++) {
            stored.add(steps.normal(raw.path("steps").path(i), task.steps().get(i)));
        }
        RetryPolicy own = task.policy().retry();
        if (own != null) {
            normal.set("retry", Retries.write(own, raw.path("retry")));
        }
        Duration timeout = task.policy().timeout();
        if (timeout != null && !raw.has(TIMEOUT)) {
            normal.put(TIMEOUT, timeout.toSeconds());
        }
        ObjectNode assigned = AgentAssignment.write(hired.get(raw));
        if (assigned != null) {
            normal.set(AgentAssignment.key(), assigned);
        }
        ArrayNode ladder = ladders.write(raw);
        if (ladder != null) {
            normal.set(LadderReader.STORED, ladder);
        }
        if (task.policy().untrusted()) {
            normal.put(UNTRUSTED, true);
        }
        if (raw.has("verify")) {
            normal.set("verify", verifiers.normal(raw.get("verify")));
        }
        raw.properties().stream().filter(m -> !NOT_STORED.contains(m.getKey()))
                .forEach(m -> normal.putIfAbsent(m.getKey(), m.getValue()));
        return normal;
    }

    /** The id of a task. A task without a usable id gets a unique one, so that the rest of the plan can be checked. */
    private String id(JsonNode raw, int index, String at) {
        String id = JsonFields.text(raw, "id");
        String tempId = JsonFields.text(raw, "temp_id");
        if (id != null && tempId != null && !id.equals(tempId)) {
            problems.add("INVALID_VALUE", at + "/temp_id", "id and temp_id are the same thing: leave one out");
        }
        if (raw.isObject() && !raw.has("id") && !raw.has("temp_id")) {
            problems.add("REQUIRED", at + "/id", "'id' must be given");
        }
        return id != null ? id : tempId != null ? tempId : "#" + index;
    }

    private static List<Dependency> upstreams(JsonNode raw) {
        String type = JsonFields.text(raw, "dependency_type", "data");
        List<Dependency> upstreams = new ArrayList<>();
        for (JsonNode each : raw.path("depends_on")) {
            String task = each.isString() ? each.stringValue() : JsonFields.text(each, "task", "");
            upstreams.add(new Dependency(task, !ORDERING.equals(JsonFields.text(each, "type", type))));
        }
        return upstreams;
    }

    private static TriggerRule triggerRule(JsonNode raw) {
        String name = JsonFields.text(raw, "trigger_rule", "");
        for (TriggerRule rule : TriggerRule.values()) {
            if (rule.wire().equals(name.toLowerCase(Locale.ROOT))) {
                return rule;
            }
        }
        return TriggerRule.ALL_SUCCESS;
    }

    private List<StepSpec> steps(JsonNode raw, String at, String title, List<Dependency> upstreams,
            @Nullable Hired agent) {
        JsonNode given = raw.path("steps");
        String model = agent == null || agent.terms().model() == null ? JsonFields.text(raw, "suggested_model")
                : agent.terms().model();
        if (given.isEmpty()) {
            RunsOn runsOn = agent == null ? RunsOn.WORKERS : agent.terms().runsOn();
            return List.of(steps.turn(TurnInput.of(raw, title, upstreams, agent), runsOn)
                    .within(steps.worstCase(raw.path(WORST_CASE), model, at + "/" + WORST_CASE)));
        }
        if (raw.has(WORST_CASE)) {
            problems.add("INVALID_VALUE", at + "/" + WORST_CASE,
                    "the task has steps: give the worst case to each step that calls a model");
        }
        List<StepSpec> read = new ArrayList<>(given.size());
        for (int i = 0; i < given.size(); i++) {
            String step = at + "/steps/" + i;
            read.add(steps.read(given.path(i), i, step)
                    .within(steps.worstCase(given.path(i).path(WORST_CASE), model, step + "/" + WORST_CASE)));
        }
        return read;
    }
}
