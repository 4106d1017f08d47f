package io.keelson.server.annex.model.call;

import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.annex.model.AnswerText;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code model.generate}: one answer of a model, as text or as JSON that fits a schema. The model gets what does not fit, and
 * answers again at most twice. All answers are charged.
 */
public final class ModelGenerate implements Tool {

    /** The tool's name. */
    public static final String NAME = "model.generate";

    private static final int MAX_REPAIRS = 2;
    private static final int MAX_FLAWS = 20;

    private static final ToolSpec SPEC = new ToolSpec(NAME,
            "Asks a model of the server for one answer, as text or as JSON that fits a schema. The step is charged by the model's tokens.",
            Json.read(
                    """
                    {"type": "object", "additionalProperties": false, "required": ["model"],
                     "oneOf": [{"required": ["prompt"]}, {"required": ["messages"]}], "properties": {
                      "model": {"type": "string", "minLength": 1, "maxLength": 200,
                                "description": "name of a model, as `keelson models` lists it"},
                      "instructions": {"type": "string", "description": "for the whole conversation"},
                      "prompt": {"type": "string", "minLength": 1, "description": "a conversation of one message"},
                      "messages": {"type": "array", "minItems": 1, "maxItems": 1000, "description": "the oldest first",
                       "items": {"type": "object", "additionalProperties": false, "required": ["role", "text"],
                        "properties": {"role": {"enum": ["user", "assistant"]}, "text": {"type": "string", "minLength": 1}}}},
                      "output_schema": {"type": "object",
                       "description": "JSON Schema (2020-12, without references; patterns are RE2) of the answer"},
                      "max_output_tokens": {"type": "integer", "minimum": 1, "maximum": 100000000,
                       "description": "of each answer, reasoning included; at most and by default those of the model"}}}"""),
            Json.read("""
                    {"type": "object", "required": ["model", "model_answered", "finish", "repairs"], "properties": {
                      "text": {"type": "string", "description": "the answer without output_schema"},
                      "output": {"description": "the answer with output_schema"},
                      "model": {"type": "string"},
                      "model_answered": {"type": ["string", "null"], "description": "as the provider names it"},
                      "finish": {"const": "stop"},
                      "repairs": {"type": "integer", "minimum": 0, "maximum": 2,
                       "description": "answers before this one that did not fit output_schema"}}}"""),
            Duration.ofSeconds(300), false).using(SlotKind.MODEL).having(Effects.READ);

    private final ModelCalls calls;
    private final Computation computation;

    /** @param computation for the checks of answers */
    public ModelGenerate(ModelCalls calls, Computation computation) {
        this.calls = calls;
        this.computation = computation;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        return execute(call, _ -> true);
    }

    /**
     * The same.
     *
     * @param fits which models may answer
     * @throws ToolFailure {@code JUDGE_NOT_INDEPENDENT} where neither the model nor a fallback does
     */
    public ToolResult execute(ToolCall call, Predicate<ConfiguredModel> fits) throws ToolFailure, InterruptedException {
        JsonNode input = call.input();
        String asked = input.get("model").stringValue();
        ConfiguredModel model = calls.chosen(call, asked, null, ModelCalls.lastAttempt(call), fits);
        if (!fits.test(model)) {
            throw ToolFailure.permanent("JUDGE_NOT_INDEPENDENT", "the model '" + asked + "' is of the family '"
                    + model.family() + "' of an author, and no fallback is of another");
        }
        JsonNode declared = input.get("output_schema");
        DeclaredSchema schema = declared == null ? null : schema(call, declared);
        int most = Math.min(input.path("max_output_tokens").asInt(model.maxOutputTokens()), model.maxOutputTokens());
        List<Message> messages = messages(input);
        ToolUsage spent = ToolUsage.NONE;
        for (int repairs = 0;; repairs++) {
            ModelRequest request = new ModelRequest(input.path("instructions").asString(""), messages,
                    List.of(), ToolChoice.NONE, declared, most);
            ModelAnswer answer = answer(call, model, request, spent);
            spent = spent.plus(ModelCalls.usage(model.name(), answer, asked));
            try {
                complete(answer);
                Checked checked = schema == null ? new Checked(null, List.of())
                        : computed(call, () -> Checked.of(answer.text(), schema));
                if (checked.flaws().isEmpty()) {
                    return new ToolResult(output(model, answer, checked.value(), repairs), spent, List.of());
                }
                call.log().line("answer " + (repairs + 1) + " does not fit output_schema: "
                        + checked.flaws().getFirst());
                if (repairs == MAX_REPAIRS) {
                    throw new ToolFailure("OUTPUT_INVALID", ErrorClass.QUALITY,
                            "the answer does not fit output_schema after "
                                    + MAX_REPAIRS + " repairs: " + String.join("; ", checked.flaws()));
                }
                messages.add(new Message.Assistant(answer.text(), List.of(), answer.raw()));
                messages.add(new Message.User(repair(checked.flaws(), String.valueOf(declared))));
            } catch (ToolFailure e) {
                ModelCalls.refused(call, model, request);
                throw e.spending(spent);
            }
        }
    }

    /** @param spent for answers before this one, which the failure charges as well */
    private ModelAnswer answer(ToolCall call, ConfiguredModel model, ModelRequest request, ToolUsage spent)
            throws ToolFailure, InterruptedException {
        try {
            return calls.send(call, model, ModelCalls.held(call, model, request, spent.tokens()),
                    request.outputSchema() == null ? call.log()::answer : TextListener.NONE);
        } catch (ToolFailure e) {
            throw e.spending(spent.plus(e.spent()));
        } catch (HandBackException e) {
            HandBackException.Busy busy = e.busy();
            if (spent.tokens().none() || busy == null) {
                throw e;
            }
            throw new ToolFailure(busy.code(), ErrorClass.INFRASTRUCTURE, String.valueOf(e.getMessage()), busy.delay())
                    .outOfOrder(busy.system()).spending(spent);
        }
    }

    private static void complete(ModelAnswer answer) throws ToolFailure {
        switch (answer.finish()) {
            case STOP -> {}
            case CALLS -> throw ToolFailure.infrastructure("MODEL_ANSWER_UNREADABLE",
                    "the model called a tool, although the request has none");
            case LENGTH -> throw new ToolFailure("OUTPUT_TRUNCATED", ErrorClass.QUALITY,
                    "the answer ended at the bound of output tokens: raise max_output_tokens, or ask for less");
            case CONTENT_FILTER -> throw new ToolFailure("MODEL_REFUSED", ErrorClass.QUALITY,
                    "the provider withheld the answer");
            case REFUSAL -> throw new ToolFailure("MODEL_REFUSED", ErrorClass.QUALITY,
                    "the model refused: " + Excerpt.piece(answer.text()));
        }
    }

    /** @param flaws each with its pointer; empty for a value that fits */
    private record Checked(@Nullable JsonNode value, List<String> flaws) {

        static Checked of(String text, DeclaredSchema schema) {
            JsonNode value;
            try {
                value = OutsideJson.readStrict(AnswerText.json(text).getBytes(StandardCharsets.UTF_8));
            } catch (JacksonException e) {
                return new Checked(null, List.of("the answer is not one JSON value: "
                        + Excerpt.firstLine(e.getOriginalMessage())));
            }
            return new Checked(value, schema.check(value).stream().limit(MAX_FLAWS)
                    .map(flaw -> (flaw.pointer().isEmpty() ? "the answer" : flaw.pointer()) + ": " + flaw.message())
                    .toList());
        }
    }

    private DeclaredSchema schema(ToolCall call, JsonNode declared) throws ToolFailure, InterruptedException {
        DeclaredSchema schema = computed(call, () -> new DeclaredSchema(declared));
        if (!schema.flaws().isEmpty()) {
            DeclaredSchema.Flaw flaw = schema.flaws().getFirst();
            throw ToolFailure.permanent("INVALID_SCHEMA", "output_schema" + flaw.pointer() + ": " + flaw.message());
        }
        return schema;
    }

    private <T> T computed(ToolCall call, ScopedValue.CallableOp<T, RuntimeException> work)
            throws ToolFailure, InterruptedException {
        try {
            return computation.<T, RuntimeException>run(() -> new Computation.Owner(call.workspaceId(), call.runId()),
                    work);
        } catch (Computation.SpentException e) {
            throw ToolFailure.permanent("RUN_COMPUTATION_SPENT", String.valueOf(e.getMessage()));
        }
    }

    private static List<Message> messages(JsonNode input) {
        List<Message> messages = new ArrayList<>();
        if (input.has("prompt")) {
            messages.add(new Message.User(input.get("prompt").stringValue()));
        }
        input.path("messages").forEach(each -> {
            String text = each.get("text").stringValue();
            messages.add(each.get("role").stringValue().equals("user") ? new Message.User(text)
                    : new Message.Assistant(text, List.of(), null));
        });
        return messages;
    }

    private static String repair(List<String> flaws, String schema) {
        return flaws.stream().map(flaw -> "- " + flaw + "\n").collect(Collectors.joining("",
                "Your answer does not fit the JSON Schema. Problems, with JSON pointers into the answer:\n",
                "Answer with the corrected JSON value and nothing else. The JSON Schema:\n" + schema));
    }

    private static ObjectNode output(ConfiguredModel model, ModelAnswer answer, @Nullable JsonNode value, int repairs) {
        ObjectNode output = Json.object();
        if (value == null) {
            output.put("text", answer.text());
        } else {
            output.set("output", value);
        }
        return output.put("model", model.name()).put("model_answered", answer.modelAnswered()).put("finish", "stop")
                .put("repairs", repairs);
    }
}
