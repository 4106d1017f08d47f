package io.keelson.server.work.builtin;

import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.StringTokenizer;
import tools.jackson.databind.JsonNode;

/** {@code verify.length}: whether an output has the required length, in characters or words. */
final class VerifyLength implements Tool {

    private static final ToolSpec SPEC = VerifierAnswers.spec("verify.length",
            "Judges the length of an output; one that is no text is taken as JSON.", """
            {"type": "object", "additionalProperties": false, "required": ["output"],
             "anyOf": [{"required": ["min"]}, {"required": ["max"]}], "properties": {
              "output": {"description": "what is judged"},
              "min": {"type": "integer", "minimum": 0, "maximum": 10000000},
              "max": {"type": "integer", "minimum": 0, "maximum": 10000000},
              "unit": {"enum": ["characters", "words"], "default": "characters"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        JsonNode input = call.input();
        String text = VerifierAnswers.text(input.get("output"));
        String unit = input.path("unit").asString("characters");
        int length =
                unit.equals("words") ? new StringTokenizer(text).countTokens() : text.codePointCount(0, text.length());
        String is = "the output has " + length + " " + unit;
        if (length < input.path("min").asInt(0)) {
            return VerifierAnswers.rejected(call.redaction(), is + ", at least " + input.get("min").intValue()
                    + " are required");
        }
        if (length > input.path("max").asInt(Integer.MAX_VALUE)) {
            return VerifierAnswers.rejected(call.redaction(), is + ", at most " + input.get("max").intValue()
                    + " are allowed");
        }
        return VerifierAnswers.passed();
    }
}
