package io.keelson.server.work.builtin;

import io.keelson.core.policy.Effects;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.tenant.secret.Redaction;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** The answer of verifiers: {@code {"verdict": …, "score": 0 to 1, "feedback": …}}. */
final class VerifierAnswers {

    /** More than so many flaws help no next attempt. */
    private static final int MAX_FLAWS = 20;
    private static final int MAX_CHARACTERS = 4_000;
    private static final String ANSWER = """
            {"type": "object", "required": ["verdict", "score", "feedback"], "properties": {
              "verdict": {"enum": ["passed", "rejected", "unsure"]},
              "score": {"type": "number", "minimum": 0, "maximum": 1},
              "feedback": {"type": ["string", "null"], "description": "what is wrong, for the next attempt"}}}""";

    private VerifierAnswers() {}

    static ToolSpec spec(String name, String description, String inputSchema) {
        return Specs.spec(name, Effects.READ, description, inputSchema, ANSWER);
    }

    static ToolResult passed() {
        return result("passed", 1, null);
    }

    /**
     * Redacts secrets in the flaws before they are cut.
     *
     * @param score the met share of the requirements
     */
    static ToolResult rejected(Redaction redaction, double score, List<String> flaws) {
        String more = flaws.size() <= MAX_FLAWS ? "" : "; and " + (flaws.size() - MAX_FLAWS) + " more";
        String text = String.join("; ", flaws.subList(0, Math.min(MAX_FLAWS, flaws.size())));
        return result("rejected", score, cut(redaction.text(text)) + more);
    }

    static ToolResult rejected(Redaction redaction, String flaw) {
        return rejected(redaction, 0, List.of(flaw));
    }

    /** An output as text: a string unchanged, anything else as JSON. */
    static String text(JsonNode output) {
        return output.isString() ? output.stringValue() : output.toString();
    }

    private static String cut(String text) {
        return text.length() <= MAX_CHARACTERS ? text : text.substring(0, MAX_CHARACTERS) + "…";
    }

    private static ToolResult result(String verdict, double score, @Nullable String feedback) {
        return ToolResult.of(JsonNodeFactory.instance.objectNode().put("verdict", verdict).put("score", score)
                .put("feedback", feedback));
    }
}
