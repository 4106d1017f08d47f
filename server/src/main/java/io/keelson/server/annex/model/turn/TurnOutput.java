package io.keelson.server.annex.model.turn;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.annex.model.AnswerText;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.engine.tool.ToolFailure;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Turns a model's answer into the output of a turn: calls, the task's output, or a reason for another turn. */
final class TurnOutput {
    static final String TRUNCATED = "OUTPUT_TRUNCATED";
    static final String INVALID = "OUTPUT_INVALID";
    static final String REFUSED = "MODEL_REFUSED";
    /** Turns in which a model may correct an output. */
    private static final int REPAIRS = 2;
    /** Problems of an output that are shown to a model at a time. */
    private static final int MAX_SHOWN = 20;

    private final TurnInputView input;
    private final TurnTools tools;

    TurnOutput(TurnInputView input, TurnTools tools) {
        this.input = input;
        this.tools = tools;
    }

    /** @throws ToolFailure of the class {@code quality}: {@code MODEL_REFUSED}, {@code OUTPUT_TRUNCATED}, {@code OUTPUT_INVALID} */
    ObjectNode of(ModelAnswer answer) throws ToolFailure {
        return switch (answer.finish()) {
            case REFUSAL, CONTENT_FILTER -> throw quality(REFUSED, answer.text().isEmpty()
                    ? "the model's provider has withheld the answer"
                    : "the model refuses: " + answer.text());
            case LENGTH -> cut(answer);
            case STOP, CALLS -> answer.calls().isEmpty() ? done(answer) : calls(answer);
        };
    }

    private static ToolFailure quality(String code, String message) {
        return new ToolFailure(code, ErrorClass.QUALITY, message);
    }

    private ObjectNode calls(ModelAnswer answer) {
        ObjectNode output = kept(answer);
        ArrayNode calls = output.putArray("tool_calls");
        for (Call call : answer.calls()) {
            String tool = tools.tool(call.name());
            ObjectNode entry = calls.addObject().put("id", call.id()).put("name", tool);
            JsonNode given = call.input();
            String refusal = tools.refusal(tool);
            if (given == null) {
                entry.putObject("input").put("arguments", call.text());
                entry.putObject("refused").put("code", "TOOL_INPUT_INVALID")
                        .put("message", ": the arguments are no JSON object");
            } else {
                entry.set("input", given);
                if (refusal != null) {
                    entry.putObject("refused").put("code", "MCP_TOOL_NOT_ALLOWED").put("message", refusal);
                }
            }
        }
        return output;
    }

    private static ObjectNode kept(ModelAnswer answer) {
        ObjectNode output = Json.object();
        if (!answer.text().isEmpty()) {
            output.put("text", answer.text());
        }
        output.set("raw", answer.raw());
        return output;
    }

    private ObjectNode cut(ModelAnswer answer) throws ToolFailure {
        if (input.repeated(TRUNCATED) > 0 || input.lastTurn()) {
            throw quality(TRUNCATED, "the answer has been cut at its bound of tokens"
                    + (input.lastTurn() ? "" : " twice in a row"));
        }
        ObjectNode output = Json.object();
        if (answer.calls().isEmpty()) {
            output.put("text", answer.text());
        }
        return again(output, TRUNCATED, "the answer was cut at its bound of tokens");
    }

    private static ObjectNode again(ObjectNode output, String code, String message) {
        output.putObject("again").put("code", code).put("message", message);
        return output;
    }

    /**
     * The output of a turn that summarises.
     *
     * @param turns number of turns, from the first, that the summary takes the place of
     */
    static ObjectNode summary(ModelAnswer answer, int turns) throws ToolFailure {
        if (answer.finish() == Finish.REFUSAL || answer.finish() == Finish.CONTENT_FILTER || answer.text().isBlank()) {
            throw quality(REFUSED, "the model gives no summary of its turns: " + answer.text());
        }
        ObjectNode output = again(Json.object(), AgentTerms.TURNS_COMPACTED, answer.text());
        output.withObjectProperty("again").put("turns", turns);
        return output;
    }

    private ObjectNode done(ModelAnswer answer) throws ToolFailure {
        String text = AnswerText.withoutReasoning(input.cutText() + answer.text());
        JsonNode schema = input.outputSchema();
        JsonNode value = schema == null ? Json.string(text) : value(text);
        String problems = value == null ? ": the answer is no JSON value" : problems(schema, value, text);
        if (problems.isEmpty()) {
            ObjectNode output = Json.object();
            output.set("output", value);
            return output;
        }
        if (input.repeated(INVALID) >= REPAIRS || input.lastTurn()) {
            throw quality(INVALID, "the output does not fit: " + problems);
        }
        return again(kept(answer), INVALID, problems);
    }

    /** The JSON value in the text; null if absent. */
    private static @Nullable JsonNode value(String text) {
        try {
            return OutsideJson.readStrict(AnswerText.json(text).getBytes(StandardCharsets.UTF_8));
        } catch (JacksonException e) {
            return null;
        }
    }

    /** Pointers and messages, a line for each; empty if absent. */
    private static String problems(@Nullable JsonNode schema, JsonNode value, String text) {
        if (schema == null) {
            return text.isBlank() ? ": the answer is empty" : "";
        }
        return new DeclaredSchema(schema).check(value).stream().limit(MAX_SHOWN)
                .map(flaw -> flaw.pointer() + ": " + flaw.message()).collect(Collectors.joining("\n"));
    }
}
