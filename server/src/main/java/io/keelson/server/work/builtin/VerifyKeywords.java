package io.keelson.server.work.builtin;

import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/** {@code verify.keywords}: whether an output contains texts, or does not. */
final class VerifyKeywords implements Tool {

    private static final ToolSpec SPEC = VerifierAnswers.spec("verify.keywords",
            "Judges whether an output contains all keywords, or none; one that is no text is taken as JSON.", """
            {"type": "object", "additionalProperties": false, "required": ["output", "keywords"], "properties": {
              "output": {"description": "what is judged"},
              "keywords": {"type": "array", "minItems": 1, "maxItems": 100,
                           "items": {"type": "string", "minLength": 1, "maxLength": 200},
                           "description": "case does not matter"},
              "absent": {"type": "boolean", "default": false, "description": "it passes when none is found"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        JsonNode input = call.input();
        boolean absent = input.path("absent").asBoolean(false);
        String text = VerifierAnswers.text(input.get("output")).toLowerCase(Locale.ROOT);
        List<String> all = input.get("keywords").valueStream().map(JsonNode::stringValue).toList();
        List<String> flaws = all.stream().filter(each -> text.contains(each.toLowerCase(Locale.ROOT)) == absent)
                .map(each -> "'" + each + "' is " + (absent ? "in the output" : "missing")).toList();
        return flaws.isEmpty() ? VerifierAnswers.passed()
                : VerifierAnswers.rejected(call.redaction(), 1 - (double) flaws.size() / all.size(), flaws);
    }
}
