package io.keelson.client;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A fork of a run from one of its tasks.
 *
 * @param task by its id in the plan
 * @param turn the first turn of the task that is repeated; null to repeat the whole task
 * @param model of the task's agent null for the run's
 * @param instructions of the task's agent; null for the run's
 * @param tools of the task's agent; null for the run's
 * @param inputs values of inputs by name; other inputs keep the run's values
 * @param name of the new run; null for the run's name
 * @param recordedCalls true if no call of the task is made: each gets the result of an equal call in the run
 * @param taskOnly true for a fork of the task and its upstream tasks, without hooks, acceptance, ladder and new plans
 * @param idempotencyKey a request that is repeated with the same key answers with the same fork; null if absent
 */
public record ForkRequest(String task, @Nullable Integer turn, @Nullable String model, @Nullable String instructions,
        @Nullable List<String> tools, Map<String, ?> inputs, @Nullable String name, boolean recordedCalls,
        boolean taskOnly, @Nullable String idempotencyKey) {

    /** A fork that repeats the whole task. */
    public static ForkRequest from(String task) {
        return new ForkRequest(task, null, null, null, null, Map.of(), null, false, false, null);
    }

    /** A copy of the request that begins at this turn of the task. */
    public ForkRequest turn(int first) {
        return new ForkRequest(task, first, model, instructions, tools, inputs, name, recordedCalls,
                taskOnly, idempotencyKey);
    }

    /** A copy with another model of the task's agent. */
    public ForkRequest model(String other) {
        return new ForkRequest(task, turn, other, instructions, tools, inputs, name, recordedCalls,
                taskOnly, idempotencyKey);
    }

    /** A copy with other instructions of the task's agent. */
    public ForkRequest instructions(String other) {
        return new ForkRequest(task, turn, model, other, tools, inputs, name, recordedCalls, taskOnly, idempotencyKey);
    }

    /** A copy with other tools of the task's agent. */
    public ForkRequest tools(List<String> other) {
        return new ForkRequest(task, turn, model, instructions, other, inputs, name, recordedCalls,
                taskOnly, idempotencyKey);
    }

    /** A copy with other values of these inputs. */
    public ForkRequest inputs(Map<String, ?> values) {
        return new ForkRequest(task, turn, model, instructions, tools, values, name, recordedCalls, taskOnly,
                idempotencyKey);
    }

    /** A copy with another name of the new run. */
    public ForkRequest name(String other) {
        return new ForkRequest(task, turn, model, instructions, tools, inputs, other, recordedCalls, taskOnly,
                idempotencyKey);
    }

    /** A copy without calls: recorded results of the run answer them. */
    public ForkRequest withRecordedCalls() {
        return new ForkRequest(task, turn, model, instructions, tools, inputs, name, true, taskOnly, idempotencyKey);
    }

    /** A copy that repeats only the task. */
    public ForkRequest onlyTask() {
        return new ForkRequest(task, turn, model, instructions, tools, inputs, name, recordedCalls, true,
                idempotencyKey);
    }

    /** A copy with an idempotency key. */
    public ForkRequest idempotencyKey(String key) {
        return new ForkRequest(task, turn, model, instructions, tools, inputs, name, recordedCalls, taskOnly, key);
    }

    ObjectNode body() {
        ObjectNode body = Json.object().put("task", task);
        body.set("inputs", Json.of(inputs));
        if (name != null) {
            body.put("name", name);
        }
        if (turn != null) {
            body.put("turn", turn);
        }
        if (recordedCalls) {
            body.put("calls", "recorded");
        }
        if (taskOnly) {
            body.put("task_only", true);
        }
        ObjectNode overrides = Json.object();
        if (model != null) {
            overrides.put("model", model);
        }
        if (instructions != null) {
            overrides.put("instructions", instructions);
        }
        if (tools != null) {
            overrides.set("tools", Json.of(tools));
        }
        if (!overrides.isEmpty()) {
            body.set("overrides", overrides);
        }
        return body;
    }
}
