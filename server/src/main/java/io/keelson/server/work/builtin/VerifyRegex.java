package io.keelson.server.work.builtin;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.keelson.server.base.json.TimedText;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import tools.jackson.databind.JsonNode;

/** {@code verify.regex}: whether a pattern is found in an output, or is not. */
final class VerifyRegex implements Tool {

    private static final ToolSpec SPEC = VerifierAnswers.spec("verify.regex",
            "Judges whether a regular expression (RE2) is found in an output; one that is no text is taken as JSON.", """
            {"type": "object", "additionalProperties": false, "required": ["output", "pattern"], "properties": {
              "output": {"description": "what is judged"},
              "pattern": {"type": "string", "minLength": 1, "maxLength": 1000},
              "absent": {"type": "boolean", "default": false, "description": "it passes when nothing is found"},
              "feedback": {"type": "string", "description": "what is wrong when it does not pass"}}}""");

    @Override
    public ToolSpec spec() {
        return SPEC;
    }

    @Override
    public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
        JsonNode input = call.input();
        String pattern = input.get("pattern").stringValue();
        boolean absent = input.path("absent").asBoolean(false);
        boolean found = found(compile(pattern), VerifierAnswers.text(input.get("output")));
        if (found != absent) {
            return VerifierAnswers.passed();
        }
        return VerifierAnswers.rejected(call.redaction(), input.path("feedback").asString(
                absent ? "the output matches " + pattern
                        : "the output does not match " + pattern));
    }

    private static boolean found(Pattern pattern, String text) throws ToolFailure, InterruptedException {
        try {
            return pattern.matcher(new TimedText(text)).find();
        } catch (TimedText.StoppedException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException(e.getMessage());
            }
            throw ToolFailure.permanent("PATTERN_TIMEOUT", String.valueOf(e.getMessage()));
        }
    }

    private static Pattern compile(String pattern) throws ToolFailure {
        try {
            return Pattern.compile(pattern);
        } catch (PatternSyntaxException e) {
            throw ToolFailure.permanent("PATTERN_INVALID", "not a regular expression (RE2): " + e.getDescription());
        }
    }
}
