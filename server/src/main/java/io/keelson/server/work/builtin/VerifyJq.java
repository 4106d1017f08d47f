package io.keelson.server.work.builtin;

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

/** {@code verify.jq}: whether a predicate in jq holds of an output, with the bounds of every expression. */
final class VerifyJq implements Tool {

    private static final ToolSpec SPEC = VerifierAnswers.spec("verify.jq",
            "Judges an output by a predicate in jq. It passes with true; a text is what is wrong with it.", """
            {"type": "object", "additionalProperties": false, "required": ["output", "expression"], "properties": {
              "output": {"description": "what is judged: the predicate's input"},
              "expression": {"type": "string", "minLength": 1, "format": "jq", "description": "jq, without ${ }"},
              "feedback": {"type": "string", "description": "what is wrong when the predicate does not hold"}}}""");

    private final Expressions expressions;

    VerifyJq(Expressions expressions) {
        this.expressions = expressions;
    }

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        JsonNode input = call.input();
        String expression = input.get("expression").stringValue();
        String flaw = input.path("feedback").asString("the output does not meet " + expression);
        try {
            List<JsonNode> values = expressions.evaluate(expression, input.get("output"), !call.redaction().none());
            if (values.size() == 1 && values.getFirst().isBoolean() && values.getFirst().booleanValue()) {
                return VerifierAnswers.passed();
            }
            return VerifierAnswers.rejected(call.redaction(), values.size() == 1 && values.getFirst().isString()
                    ? values.getFirst().stringValue()
                    : flaw);
        } catch (ExpressionException e) {
            if (e.code().equals("EXPRESSION_INTERRUPTED")) {
                Thread.interrupted();
                throw new InterruptedException(e.getMessage());
            }
            if (e.code().equals("EXPRESSION_FAILED")) {
                return VerifierAnswers.rejected(call.redaction(), flaw + " (" + e.getMessage() + ")");
            }
            throw new ToolFailure(e.code(), ErrorClass.PERMANENT, String.valueOf(e.getMessage()));
        }
    }
}
