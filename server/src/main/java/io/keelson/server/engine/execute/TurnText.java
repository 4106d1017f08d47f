package io.keelson.server.engine.execute;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TurnAnswer;
import io.keelson.core.run.TurnAnswer.Call;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.engine.tool.AgentQuestions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Parses answers of agents' turns: {@code {"tool_calls":[{"name":"…","input":{…}}]}}, {@code {"again":{"code":"…",
 * "message":"…"}}}, or only {@code {"output":…}}. Any other output is the task's output. A call with {@code refused}, an
 * error as in {@code again}, is not executed.
 */
public final class TurnText {
    private static final String CALLS = "tool_calls";
    private static final String OUTPUT = "output";
    private static final String AGAIN = "again";
    private static final String REFUSED = "refused";
    private static final int MAX_CALLS = 50;
    private static final int MAX_NAME = 200;

    private TurnText() {}

    /**
     * How a call is executed.
     *
     * @param timeout maximum duration
     * @param effects which decide whether it is repeated after a failure or a lost lease, and whether a person approves it;
     *                null if they are unknown
     */
    public record Terms(Duration timeout, @Nullable Effects effects) {

        private RetryPolicy retry() {
            return effects != null && effects.atMostOnce() ? RetryPolicy.NONE : RetryPolicy.STEP;
        }
    }

    /**
     * The turn in an output; null if absent.
     *
     * @param terms of a call, by its tool
     */
    public static @Nullable TurnAnswer of(JsonNode output, Function<String, Terms> terms) {
        if (!output.isObject()) {
            return null;
        }
        JsonNode calls = output.path(CALLS);
        boolean asks = output.has(CALLS) && !calls.isNull() && !(calls.isArray() && calls.isEmpty());
        if (asks) {
            return calls(calls, terms);
        }
        if (output.path(AGAIN).path("code").isString()) {
            return output.path(AGAIN).path("code").stringValue().equals(AgentTerms.TURNS_COMPACTED)
                    ? new TurnAnswer.Compacted()
                    : new TurnAnswer.Again();
        }
        boolean bare = output.propertyNames().stream().allMatch(key -> key.equals(OUTPUT) || key.equals(CALLS));
        return bare && output.has(OUTPUT) ? new TurnAnswer.Done(output.path(OUTPUT).toString()) : null;
    }

    private static TurnAnswer calls(JsonNode given, Function<String, Terms> terms) {
        if (!given.isArray() || given.size() > MAX_CALLS) {
            return new TurnAnswer.Unreadable(CALLS + " must be an array of at most " + MAX_CALLS + " calls");
        }
        List<Call> calls = new ArrayList<>();
        for (JsonNode each : given) {
            String name = each.path("name").isString() ? SafeText.clean(each.path("name").stringValue()) : "";
            JsonNode input = each.path("input");
            if (name.isBlank() || name.length() > MAX_NAME
                    || !input.isObject() && !input.isMissingNode() && !input.isNull()) {
                return new TurnAnswer.Unreadable("call " + calls.size() + " of " + CALLS
                        + " must be {\"name\": a tool's name, \"input\": an object}");
            }
            JsonNode taken = input.isObject() ? SafeText.clean(input) : JsonNodeFactory.instance.objectNode();
            calls.add(call(name, taken, terms.apply(name), refusal(name, taken, each.path(REFUSED))));
        }
        return new TurnAnswer.Calls(calls);
    }

    /**
     * A call.
     *
     * @param input storable
     * @param refusal null for a call that is made
     */
    public static Call call(String tool, JsonNode input, Terms terms, @Nullable StepError refusal) {
        return new Call(tool, literal(input).toString(), Json.digest(input), terms.retry(), terms.timeout, refusal,
                terms.effects);
    }

    /** No person is asked a question that cannot be answered. */
    private static @Nullable StepError refusal(String tool, JsonNode input, JsonNode error) {
        String problems = tool.equals(AgentTerms.ASK) ? AgentQuestions.problems(input) : "";
        if (!problems.isEmpty() && !error.has("code")) {
            return new StepError("TOOL_INPUT_INVALID", ErrorClass.PERMANENT, SafeText.clean(problems));
        }
        return error.path("code").isString() ? new StepError(error.path("code").stringValue(), ErrorClass.PERMANENT,
                SafeText.clean(error.path("message").asString(""))) : null;
    }

    /** The value of an input that {@link #literal} has escaped. */
    public static JsonNode meant(JsonNode input) {
        return Json.read(input.toString().replace("$${", "${"));
    }

    /** Escapes an agent's text: an expression in it names no secret and reads no output. */
    public static JsonNode literal(JsonNode node) {
        if (node.isString()) {
            return JsonNodeFactory.instance.stringNode(node.stringValue().replace("${", "$${"));
        }
        if (node.isArray()) {
            ArrayNode array = JsonNodeFactory.instance.arrayNode();
            node.forEach(each -> array.add(literal(each)));
            return array;
        }
        if (node.isObject()) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            for (Map.Entry<String, JsonNode> each : node.properties()) {
                object.set(each.getKey(), literal(each.getValue()));
            }
            return object;
        }
        return node;
    }
}
