package io.keelson.server.annex.model.turn;

import io.keelson.core.plan.RunsOn;
import io.keelson.core.policy.Effects;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.call.ModelCalls;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code model.turn}: a turn of an agent whose model this server calls. */
public final class ModelTurn implements Tool {

    private static final ToolSpec SPEC = new ToolSpec(RunsOn.SERVER.tool(),
            "Takes a turn of an agent with a model of the server. Only the turns of tasks without steps use it.",
            Json.object().put("type", "object"), Json.object().put("type", "object"), Duration.ofSeconds(300), false)
            .having(Effects.READ).using(SlotKind.MODEL);

    /** The part of a model's context that a request may fill before the turns are summarised. */
    private static final double FULL = 0.8;
    /** The part of a model's context that a summary may fill. */
    private static final double SUMMARY = 0.2;
    /** Bytes of text for one token in the estimate of a request. */
    private static final int BYTES_PER_TOKEN = 3;

    private final ModelCalls calls;
    private final ToolCatalog catalogue;
    private final Function<UUID, Map<String, JsonNode>> announced;
    private final Computation computation;

    /**
     * @param catalogue the tools that a workspace can use, by their names, for their descriptions and schemas
     * @param announced what the workers of a workspace say of their tools, by name
     * @param computation for the checks of answers
     */
    public ModelTurn(ModelCalls calls, ToolCatalog catalogue,
            Function<UUID, Map<String, JsonNode>> announced, Computation computation) {
        this.calls = calls;
        this.catalogue = catalogue;
        this.announced = announced;
        this.computation = computation;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        TurnInputView input = new TurnInputView(call.input());
        ConfiguredModel model =
                calls.chosen(call, String.valueOf(input.text("model")), input.lastModel(), input.unanswered(),
                        _ -> true);
        TurnTools tools = new TurnTools(input.tools(), tool -> catalogue.find(call.workspaceId(), tool),
                tool -> catalogue.ofWorkspaces().unusable(call.workspaceId(), tool),
                announced.apply(call.workspaceId()));
        int turns = input.transcript().size();
        boolean compactable = turns > 0 && !input.lastTurn() && input.compaction() < turns - 1;
        if (compactable && input.nextInput(BYTES_PER_TOKEN) > model.contextTokens() * FULL) {
            return compact(call, input, tools, model, turns);
        }
        ModelRequest whole = TurnPrompt.of(input, tools, model.wire(), model.maxOutputTokens());
        ModelCalls.Held held = ModelCalls.held(call, model, whole, input.lastUsage(model.name()),
                whole.afterLastAnswer());
        ModelRequest request = held.request();
        ModelAnswer answer;
        try {
            answer = calls.send(call, model, held, call.log()::answer);
        } catch (ToolFailure e) {
            if (compactable && turns - 1 > input.compacted() && e.code().equals("CONTEXT_OVERFLOW")) {
                return compact(call, input, tools, model, turns - 1);
            }
            throw e;
        }
        ObjectNode facts = facts(model, request, answer);
        call.log().line(facts.toString());
        ToolUsage usage = ModelCalls.usage(model.name(), answer);
        try {
            ObjectNode output = output(call, new TurnOutput(input, tools), answer);
            if (!output.has("output")) {
                output.set("model_call", facts);
            }
            return new ToolResult(output, usage, List.of());
        } catch (ToolFailure e) {
            ModelCalls.refused(call, model, request);
            throw e.spending(usage);
        }
    }

    /** Has the model summarise the first turns, so that the next turn's request is shorter. The newest may be too long for that. */
    private ToolResult compact(ToolCall call, TurnInputView input, TurnTools tools, ConfiguredModel model, int turns)
            throws ToolFailure, InterruptedException {
        int most = Math.min(model.maxOutputTokens(), Math.max(1, (int) (model.contextTokens() * SUMMARY)));
        ModelCalls.Held held =
                ModelCalls.held(call, model, TurnPrompt.compacting(input, tools, model.wire(), turns, most), null, 0);
        ModelAnswer answer = calls.send(call, model, held, TextListener.NONE);
        ObjectNode facts = facts(model, held.request(), answer);
        call.log().line(facts.toString());
        ToolUsage usage = ModelCalls.usage(model.name(), answer);
        try {
            ObjectNode output = TurnOutput.summary(answer, turns);
            output.set("model_call", facts);
            return new ToolResult(output, usage, List.of());
        } catch (ToolFailure e) {
            throw e.spending(usage);
        }
    }

    private ObjectNode output(ToolCall call, TurnOutput output, ModelAnswer answer)
            throws ToolFailure, InterruptedException {
        try {
            return computation.<ObjectNode, ToolFailure>run(
                    () -> new Computation.Owner(call.workspaceId(), call.runId()), () -> output.of(answer));
        } catch (Computation.SpentException e) {
            throw ToolFailure.permanent("RUN_COMPUTATION_SPENT", String.valueOf(e.getMessage()));
        }
    }

    /** The record of a request and its answer, without their texts. */
    private static ObjectNode facts(ConfiguredModel model, ModelRequest request, ModelAnswer answer) {
        ObjectNode facts = Json.object().put("asked", model.name()).put("answered", answer.modelAnswered())
                .put("wire", model.wire().wire()).put("finish", answer.finish().name().toLowerCase(Locale.ROOT))
                .put("prompt", TurnPrompt.VERSION).put("request_id", answer.requestId())
                .put("request_sha256", Json.digest(Json.MAPPER.valueToTree(request)))
                .put("first_text_ms", answer.firstTextMillis()).put("total_ms", answer.totalMillis());
        facts.set("usage", Json.tree(answer.usage().members()));
        return facts;
    }
}
