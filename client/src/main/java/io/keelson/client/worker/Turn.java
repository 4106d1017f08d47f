package io.keelson.client.worker;

import io.keelson.client.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One turn of an agent in its task: its input, and its possible answers. A handler keeps nothing between turns: the
 * server stores them all and returns them in the {@link #transcript()}.
 */
public final class Turn {
    /** The tool by which turns are served. */
    static final String TOOL = "agent.turn";

    private final StepContext step;

    /** @param step with the input of a turn */
    public Turn(StepContext step) {
        this.step = step;
    }

    /**
     * An earlier turn.
     *
     * @param answer the agent's answer
     * @param results results of the requested calls, in their order
     */
    public record Past(JsonNode answer, List<Result> results) {}

    /**
     * The result of a call: one of the two is set.
     *
     * @param output null when the call was refused or failed; of a long output the beginning and the end, as text
     * @param error {@code code}, {@code class} and {@code message}; null when it succeeded
     * @param notice warning to the agent that it repeats a call with the same output; null if absent
     */
    public record Result(String tool, @Nullable JsonNode output, @Nullable JsonNode error, @Nullable String notice) {}

    /** A turn's answer. */
    public static final class Answer {
        private final ObjectNode body;

        private Answer(ObjectNode body) {
            this.body = body;
        }

        /** Another call, after those before it. */
        public Answer call(String tool, Object input) {
            if (!body.has("tool_calls")) {
                throw new IllegalStateException("a task that is done calls no tools");
            }
            ObjectNode copy = body.deepCopy();
            ((ArrayNode) copy.get("tool_calls")).add(toolCall(tool, input));
            return new Answer(copy);
        }

        /** Adds a member that the next turn finds beside the calls in this turn's answer, such as their reason. */
        public Answer note(String name, Object value) {
            if (name.equals("tool_calls") || name.equals("output") || body.has("output")) {
                throw new IllegalArgumentException("a note beside calls needs a name of its own: " + name);
            }
            ObjectNode copy = body.deepCopy();
            copy.set(name, Json.of(value));
            return new Answer(copy);
        }

        JsonNode body() {
            return body;
        }
    }

    /**
     * Requests a call of a tool, and another turn with its result.
     *
     * @param input an object, any that Jackson can write
     */
    public static Answer call(String tool, Object input) {
        ObjectNode body = Json.object();
        body.putArray("tool_calls").add(toolCall(tool, input));
        return new Answer(body);
    }

    /** The task is done. */
    public static Answer done(@Nullable Object output) {
        ObjectNode body = Json.object();
        body.set("output", Json.of(output));
        return new Answer(body);
    }

    private static ObjectNode toolCall(String tool, Object input) {
        JsonNode members = Json.of(input);
        if (!members.isObject()) {
            throw new IllegalArgumentException("the input of a call of " + tool + " is an object, not " + members);
        }
        ObjectNode call = Json.object().put("name", tool);
        call.set("input", members);
        return call;
    }

    /** The step that the turn is: progress, usage, artifacts, cancellation. */
    public StepContext step() {
        return step;
    }

    /** From 1. */
    public int number() {
        return transcript().size() + 1;
    }

    /** The goal of the run. */
    public String goal() {
        return step.input().path("goal").asString("");
    }

    /** The task in a few words. */
    public String title() {
        return step.input().path("title").asString("");
    }

    /** The task in more words; null when the plan says no more. */
    public @Nullable String description() {
        return text("description");
    }

    /** Criteria for the result; null if the plan has none. */
    public @Nullable String successCriteria() {
        return text("success_criteria");
    }

    /** Slug of the agent; null when no agent is assigned to the task. */
    public @Nullable String agent() {
        return text("agent");
    }

    /** The agent's; null if absent. */
    public @Nullable String instructions() {
        return text("instructions");
    }

    /** The model to be used; null when none is named. */
    public @Nullable String model() {
        return text("model");
    }

    /** All that may be called; the server refuses anything else. */
    public List<String> tools() {
        return step.input().path("tools").valueStream().map(JsonNode::asString).toList();
    }

    /** The task's inputs, else the run's. */
    public JsonNode inputs() {
        return step.input().path("inputs");
    }

    /** Outputs of the tasks that this one depends on, by their ids. */
    public JsonNode upstream() {
        return step.input().path("upstream");
    }

    /** Earlier turns, the oldest first. */
    public List<Past> transcript() {
        List<Past> turns = new ArrayList<>();
        for (JsonNode each : step.input().path("transcript")) {
            turns.add(new Past(each.path("answer"), each.path("results").valueStream().map(Turn::result).toList()));
        }
        return turns;
    }

    private static Result result(JsonNode call) {
        JsonNode output = call.has("output_excerpt") ? call.get("output_excerpt") : call.get("output");
        return new Result(call.path("tool").asString(""), call.has("error") ? null : output, call.get("error"),
                call.has("notice") ? call.get("notice").asString() : null);
    }

    /** Why the task's last attempt was not its last, a verifier's feedback for example; a JSON null in the first one. */
    public JsonNode feedback() {
        return step.input().has("feedback") ? step.input().get("feedback") : Json.of(null);
    }

    private @Nullable String text(String name) {
        JsonNode value = step.input().path(name);
        return value.isString() ? value.stringValue() : null;
    }
}
