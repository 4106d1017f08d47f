package io.keelson.server.mission.plan;

import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.UndoRules;
import io.keelson.core.plan.Undoes;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.UndoneRuns.Source;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Missions of undos: the plan of an undo under the original's budget, limits and times. A task that fails for good waits for a
 * person, and no failure ends the others.
 */
public final class UndoMissions {
    private static final List<String> KEPT = List.of("budget", "limits", "timeouts", "max_agents", "max_attempts",
            "human_timeout_seconds", "allowed_tools", "denied_tools", "untrusted_input", "approvals", "four_eyes",
            RunConfigReader.WORKER_VERSIONS);
    /** An undo waits for people longer than an agent works. */
    private static final int AGENT_SECONDS = 31_536_000;
    private static final int MAX_NAME = 200;
    private static final double MILLIS = 1_000;

    private final Function<String, Duration> toolTimeout;

    /** @param toolTimeout how long a call of a tool may take by default */
    public UndoMissions(Function<String, Duration> toolTimeout) {
        this.toolTimeout = toolTimeout;
    }

    /**
     * The mission that undoes a run.
     *
     * @param run the original
     * @param name of the original
     * @param priority of the original
     */
    public CheckedMission of(UUID run, String name, int priority, Source source, Plan plan) {
        ObjectNode config = config(source);
        ObjectNode document = write(plan);
        String full = "Undo of " + name;
        String own = full.length() <= MAX_NAME ? full : full.substring(0, MAX_NAME);
        return new CheckedMission(own, name.equals(source.goal()) ? own : source.goal(), null,
                plan,
                document, config, AutonomyDefault.Source.PRODUCT,
                RunConfigReader.policy(config, document, new StepReader(toolTimeout, new Problems()))
                        .with(new UndoRules(false, false, run)),
                source.declarations() instanceof ObjectNode declared ? declared : JsonNodeFactory.instance.objectNode(),
                source.inputs() instanceof ObjectNode inputs ? inputs : JsonNodeFactory.instance.objectNode(), priority,
                source.agentSlug(), UndoReader.UNDO, List.of(), null, ExternalIdPolicy.of("reject"), true, null, null);
    }

    private static ObjectNode config(Source source) {
        ObjectNode config = JsonNodeFactory.instance.objectNode();
        KEPT.stream().filter(source.config()::has).forEach(key -> config.set(key, source.config().get(key)));
        ObjectNode timeouts = config.path("timeouts") instanceof ObjectNode given ? given.deepCopy()
                : JsonNodeFactory.instance.objectNode();
        config.set("timeouts", timeouts.put("agent_seconds", AGENT_SECONDS));
        config.put("failure_mode", "continue").put("agent_failure_mode", "continue");
        config.putObject("escalation").put("enabled", false).put("on_exhausted", false);
        return config;
    }

    /** As {@link StoredPlans} reads it. */
    static ObjectNode write(Plan plan) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("version", plan.version()).put("strategy", plan.strategy());
        var tasks = document.putArray("tasks");
        for (TaskSpec task : plan.tasks()) {
            ObjectNode each = tasks.addObject().put("temp_id", task.id()).put("title", task.title())
                    .put("task_type", task.taskType().wire());
            var upstreams = each.putArray("depends_on");
            for (Dependency on : task.dependsOn()) {
                upstreams.addObject().put("task", on.task()).put("type", "ordering");
            }
            each.put("trigger_rule", task.triggerRule().wire());
            var steps = each.putArray("steps");
            task.steps().forEach(step -> steps.add(write(step)));
            each.set(UndoReader.UNDOES, write(Objects.requireNonNull(task.policy().undoes())));
        }
        return document;
    }

    private static ObjectNode write(StepSpec step) {
        ObjectNode written = JsonNodeFactory.instance.objectNode().put("name", step.name())
                .put("kind", step.kind().wire()).put("tool", step.tool());
        written.set("input", Json.read(step.input()));
        written.set("retry", Retries.write(step.retry(), MissingNode.getInstance()));
        if (!step.timeout().equals(StepSpec.OF_TASK)) {
            written.put("timeout_seconds", step.timeout().toMillis() / MILLIS);
        }
        return written;
    }

    private static ObjectNode write(Undoes original) {
        ObjectNode written = JsonNodeFactory.instance.objectNode().put("task", original.task().toString())
                .put("key", original.key());
        if (original.step() != null) {
            written.put("step", original.step());
        }
        if (original.run() != null) {
            written.put("run", original.run().toString());
        }
        return written;
    }
}
