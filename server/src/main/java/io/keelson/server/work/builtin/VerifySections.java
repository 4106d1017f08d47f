package io.keelson.server.work.builtin;

import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** {@code verify.sections}: whether a Markdown text has the sections that it must have, and something in each. */
final class VerifySections implements Tool {

    private static final ToolSpec SPEC = VerifierAnswers.spec("verify.sections",
            "Judges whether a Markdown text has the required sections, and text in each.", """
            {"type": "object", "additionalProperties": false, "required": ["output", "sections"], "properties": {
              "output": {"description": "what is judged"},
              "sections": {"type": "array", "minItems": 1, "maxItems": 100,
                           "items": {"type": "string", "minLength": 1, "maxLength": 200},
                           "description": "titles of headings of any level; case does not matter"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) {
        JsonNode output = call.input().get("output");
        if (!output.isString()) {
            return VerifierAnswers.rejected(call.redaction(), "the output must be text, not " + output.getNodeType());
        }
        MarkdownSections sections = new MarkdownSections(output.stringValue());
        List<String> wanted = call.input().get("sections").valueStream().map(JsonNode::stringValue).toList();
        List<String> flaws = new ArrayList<>();
        for (String title : wanted) {
            if (!sections.has(title)) {
                flaws.add("section '" + title + "' is missing");
            } else if (!sections.hasText(title)) {
                flaws.add("section '" + title + "' is empty");
            }
        }
        return flaws.isEmpty() ? VerifierAnswers.passed()
                : VerifierAnswers.rejected(call.redaction(), 1 - (double) flaws.size() / wanted.size(), flaws);
    }
}
