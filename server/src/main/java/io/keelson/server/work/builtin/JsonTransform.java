package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;

/** {@code json.transform}: a jq program over an input, with the bounds of every expression. */
final class JsonTransform implements Tool {

    private static final ToolSpec SPEC = Specs.spec("json.transform", Effects.READ,
            "Runs a jq program over a JSON value. Several results become a list.", """
            {"type": "object", "additionalProperties": false, "required": ["expression"], "properties": {
              "expression": {"type": "string", "minLength": 1, "format": "jq", "description": "jq, without ${ }"},
              "input": {"description": "what the program sees as its input", "default": null}}}""", "true");

    private final Expressions expressions;

    JsonTransform(Expressions expressions) {
        this.expressions = expressions;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        JsonNode input = call.input().has("input") ? call.input().get("input") : NullNode.instance;
        try {
            List<JsonNode> values = expressions.evaluate(call.input().get("expression").stringValue(), input,
                    !call.redaction().none());
            return ToolResult.of(switch (values.size()) {
                case 0 -> NullNode.instance;
                case 1 -> values.getFirst();
                default -> new ArrayNode(JsonNodeFactory.instance, values);
            });
        } catch (ExpressionException e) {
            throw failure(e);
        }
    }

    private static ToolFailure failure(ExpressionException e) throws InterruptedException {
        if (e.code().equals("EXPRESSION_INTERRUPTED")) {
            Thread.interrupted();
            throw new InterruptedException(e.getMessage());
        }
        return new ToolFailure(e.code(), ErrorClass.PERMANENT, String.valueOf(e.getMessage()));
    }
}
