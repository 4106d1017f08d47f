package io.keelson.server.annex.model.coordination;

import io.keelson.core.plan.Models;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.annex.model.AnswerText;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.call.ModelCalls;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code model.plan}: asks a model of the server for the plan of a goal. Its answer is checked as that of any planner. */
public final class ModelPlan implements Tool {

    /** The tool's name. */
    public static final String NAME = Models.PLAN_TOOL;
    /** The default maximum of a plan's tasks. */
    static final int MAX_TASKS = 20;

    private static final ToolSpec SPEC = new ToolSpec(NAME,
            "Asks a model of the server for the plan of a goal, out of the workspace's agents, tools and recipes. For config.planner.",
            Json.read(
                    """
                    {"type": "object", "additionalProperties": false, "required": ["model", "goal"], "properties": {
                      "model": {"type": "string", "minLength": 1, "maxLength": 200,
                                "description": "name of a model, as `keelson models` lists it"},
                      "goal": {"type": ["string", "null"]},
                      "inputs": {"description": "values of the run's inputs"},
                      "plan": {"description": "the plan as it is"},
                      "failure": {"description": "what failed, and as refused what was wrong with the last answer"},
                      "max_tasks": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 20},
                      "budget_usd": {"type": "number", "minimum": 0, "description": "what the run may cost"},
                      "allowed_tools": {"type": "array", "items": {"type": "string"}, "description": "the mission's; all where absent"},
                      "denied_tools": {"type": "array", "items": {"type": "string"}, "description": "the mission's"},
                      "judge": {"type": "string", "description": "the model that checks of the kind `model` ask"}}}"""),
            Json.read(
                    """
                    {"type": "object", "properties": {
                      "tasks": {"type": "array", "description": "the plan's"},
                      "text": {"type": "string", "description": "the model's answer, if it is no JSON object"}}}"""),
            Duration.ofSeconds(300), false).using(SlotKind.MODEL).having(Effects.READ);

    private final ModelCalls calls;
    private final Function<UUID, ObjectNode> facts;

    /** @param facts what a workspace can plan with: lists of objects by name, in an order that does not change */
    public ModelPlan(ModelCalls calls, Function<UUID, ObjectNode> facts) {
        this.calls = calls;
        this.facts = facts;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        JsonNode input = call.input();
        String asked = input.get("model").stringValue();
        ConfiguredModel model = calls.chosen(call, asked, null, ModelCalls.lastAttempt(call), _ -> true);
        ObjectNode known = facts.apply(call.workspaceId());
        ModelCalls.Held request =
                ModelCalls.held(call, model, PlanPrompt.of(input, known, model.maxOutputTokens()), null, 0);
        ModelAnswer answer = calls.send(call, model, request, TextListener.NONE);
        ToolUsage usage = ModelCalls.usage(model.name(), answer, asked);
        call.log()
                .line(Json.object().put("asked", asked).put("model", model.name())
                        .put("answered", answer.modelAnswered())
                        .put("prompt", PlanPrompt.VERSION).put("request_id", answer.requestId()).toString());
        if (answer.finish() != Finish.STOP) {
            throw new ToolFailure(answer.finish() == Finish.LENGTH ? "OUTPUT_TRUNCATED" : "MODEL_REFUSED",
                    ErrorClass.QUALITY,
                    answer.finish() == Finish.LENGTH ? "the plan ended at the bound of output tokens"
                            : "the model gave no plan: " + Excerpt.piece(answer.text()))
                    .spending(usage);
        }
        return new ToolResult(plan(answer.text(), known), usage, List.of());
    }

    private static ObjectNode plan(String text, ObjectNode known) {
        try {
            JsonNode answer = OutsideJson.readStrict(AnswerText.json(text).getBytes(StandardCharsets.UTF_8));
            if (answer instanceof ObjectNode object) {
                return isTemplate(object, known) ? ofTemplate(object) : object;
            }
        } catch (JacksonException e) {
            return Json.object().put("text", text);
        }
        return Json.object().put("text", text);
    }

    private static boolean isTemplate(ObjectNode answer, ObjectNode known) {
        return !answer.has("tasks") && known.path("recipes").valueStream()
                .anyMatch(recipe -> recipe.path("name").equals(answer.path("template")));
    }

    /** A plan whose only task runs the recipe. */
    private static ObjectNode ofTemplate(ObjectNode answer) {
        ObjectNode plan = Json.object();
        if (answer.path("reasoning").isString()) {
            plan.set("reasoning", answer.get("reasoning"));
        }
        ObjectNode task = plan.putArray("tasks").addObject().put("id", "template")
                .put("title", answer.get("template").stringValue());
        ObjectNode input = task.putArray("steps").addObject().put("tool", "run.start").putObject("input")
                .put("recipe", answer.get("template").stringValue());
        input.set("inputs", answer.path("inputs").isObject() ? answer.get("inputs") : Json.object());
        return plan;
    }
}
