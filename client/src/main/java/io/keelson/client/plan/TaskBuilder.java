package io.keelson.client.plan;

import io.keelson.client.Json;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A task of a {@link Mission}. A task without steps is agentic: its agent works in turns. */
public final class TaskBuilder {

    private final ObjectNode body = Json.object();

    TaskBuilder(String id) {
        body.put("id", id);
    }

    /** A task for {@link #branch}, {@link #otherwise} and {@link #group}. */
    public static TaskBuilder task(String id) {
        return new TaskBuilder(id);
    }

    /** Sets the title. */
    public TaskBuilder title(String value) {
        body.put("title", value);
        return this;
    }

    /** Sets the description. */
    public TaskBuilder description(String value) {
        body.put("description", value);
        return this;
    }

    /** {@code research}, {@code analysis}, {@code writing}, {@code coding} and so on. */
    public TaskBuilder type(String value) {
        body.put("task_type", value);
        return this;
    }

    /** Comes after these tasks and sees their outputs. */
    public TaskBuilder dependsOn(String... tasks) {
        for (String task : tasks) {
            body.withArrayProperty("depends_on").add(task);
        }
        return this;
    }

    /** Comes after these tasks, for the order only. */
    public TaskBuilder after(String... tasks) {
        for (String task : tasks) {
            body.withArrayProperty("depends_on").addObject().put("task", task).put("type", "ordering");
        }
        return this;
    }

    /** Sets the condition on upstream tasks under which the task starts. */
    public TaskBuilder triggerRule(TriggerRule rule) {
        body.put("trigger_rule", rule.wire());
        return this;
    }

    /** Skips the task when the expression is false. */
    public TaskBuilder when(String expression) {
        body.put("when", expression);
        return this;
    }

    /** One task per item of the array that the expression gives. */
    public TaskBuilder forEach(String expression) {
        body.put("for_each", expression);
        return this;
    }

    /**
     * Does the task in rounds, with the defaults of the server.
     *
     * @param until jq over {@code .output} of a round; true ends the rounds
     * @param max maximum number of rounds
     * @param delay between two rounds
     */
    public TaskBuilder repeat(String until, int max, Duration delay) {
        body.putObject("repeat").put("until", until).put("max", max).put("delay_seconds", delay.toMillis() / 1000.0);
        return this;
    }

    /**
     * Makes this entry a switch with one more branch. The first branch whose condition holds is done.
     *
     * @param name unique in the switch
     * @param when jq over {@code .inputs}, {@code .tasks} and {@code .run}
     */
    public TaskBuilder branch(String name, String when, TaskBuilder... tasks) {
        ObjectNode branch = body.withArrayProperty("switch").addObject().put("name", name).put("when", when);
        branch.putArray("tasks");
        for (TaskBuilder task : tasks) {
            branch.withArrayProperty("tasks").add(task.toJson());
        }
        return this;
    }

    /** The last branch of the switch: it is done if no condition holds. */
    public TaskBuilder otherwise(TaskBuilder... tasks) {
        ObjectNode branch = body.withArrayProperty("switch").addObject();
        branch.putArray("else");
        for (TaskBuilder task : tasks) {
            branch.withArrayProperty("else").add(task.toJson());
        }
        return this;
    }

    /** Makes this entry a group: a task that depends on it waits for all its ends. */
    public TaskBuilder group(TaskBuilder... tasks) {
        for (TaskBuilder task : tasks) {
            body.withArrayProperty("group").add(task.toJson());
        }
        return this;
    }

    /**
     * Adds a call that undoes the task; expressions see its {@code .input} and {@code .output}. Further calls come after it, in order.
     *
     * @param tool name of the tool
     */
    public TaskBuilder undo(String tool, Object input) {
        Undoing.add(body, tool, input);
        return this;
    }

    /**
     * Takes over the output of an agent's task with the same key in any run of the workspace, instead of doing the task. A task with steps
     * has a {@link StepBuilder#cache} per step.
     *
     * @param key jq expression; equal values have equal results
     * @param maxAge maximum age of the result, in whole seconds
     */
    public TaskBuilder cache(String key, Duration maxAge) {
        body.putObject("cache").put("key", key).put("max_age", maxAge.toSeconds() + "s");
        return this;
    }

    /** The title of each item's task; expressions see {@code .item} and {@code .index}. */
    public TaskBuilder label(String template) {
        body.put("label", template);
        return this;
    }

    /** Runs the steps side by side rather than in order. */
    public TaskBuilder parallel() {
        body.put("parallelism", "parallel");
        return this;
    }

    /** Each step is committed before the next one begins, also where their tools have no effects. */
    public TaskBuilder unchained() {
        body.put("chain", false);
        return this;
    }

    /** Adds a step that calls a tool. */
    public TaskBuilder step(String name, String tool, Object input) {
        return step(name, tool, input, step -> step);
    }

    /** Adds a step that calls a tool, with settings of its own. */
    public TaskBuilder step(String name, String tool, Object input, UnaryOperator<StepBuilder> build) {
        ObjectNode step = Json.object().put("name", name).put("tool", tool);
        step.set("input", Json.of(input));
        body.withArrayProperty("steps").add(build.apply(new StepBuilder(step)).toJson());
        return this;
    }

    /** Adds a step that waits for a person's decision. */
    public TaskBuilder approval(String name, String question) {
        ObjectNode step = Json.object().put("name", name).put("kind", "approval");
        step.set("input", Json.of(Map.of("question", question)));
        body.withArrayProperty("steps").add(step);
        return this;
    }

    /** The task's output, instead of its last step's. */
    public TaskBuilder output(Object value) {
        body.set("output", Json.of(value));
        return this;
    }

    /** How it reacts to a step that failed for good. */
    public TaskBuilder failureMode(FailureMode mode) {
        body.put("failure_mode", mode.wire());
        return this;
    }

    /** Adds a verification of the output as the mission file writes it, such as {@code {kind: jq, expression: …}}. */
    public TaskBuilder verify(Object verification) {
        body.withArrayProperty("verify").add(Json.of(verification));
        return this;
    }

    /** A person has the last word on the output; to be called after every {@link #verify}. */
    public TaskBuilder review() {
        return verify(Map.of("kind", "human"));
    }

    /** Limits the cost of the task in all attempts of the run, in credits. */
    public TaskBuilder budgetUsd(BigDecimal most) {
        body.put("budget_usd", most);
        return this;
    }

    /** Sets the criteria that the output must meet. */
    public TaskBuilder successCriteria(String value) {
        body.put("success_criteria", value);
        return this;
    }

    /** Sets any other member of the task by its name in the mission file. */
    public TaskBuilder with(String member, Object value) {
        body.set(member, Json.of(value));
        return this;
    }

    JsonNode toJson() {
        return body;
    }
}
