package io.keelson.server.base.expr;

import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.JsonSize;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/** The expressions of one template over one scope, within one {@link EvaluationBudget}. */
final class Evaluation {

    private final LoadingCache<String, JqProgram> programs;
    private final ExpressionLimits limits;
    private final JsonNode scope;
    private long chars;

    Evaluation(LoadingCache<String, JqProgram> programs, ExpressionLimits limits, JsonNode scope) {
        this.programs = programs;
        this.limits = limits;
        this.scope = scope;
    }

    /**
     * The expression's value, null when it gives none.
     *
     * @param at JSON pointer of its text, which a failure names
     */
    JsonNode one(String expression, String at) {
        try {
            return one(expression);
        } catch (ExpressionException e) {
            throw !e.code().equals("EXPRESSION_FAILED") ? e
                    : new ExpressionException(e.code(), (at.isEmpty() ? "" : Excerpt.piece(at) + ": ")
                            + Excerpt.piece("${ " + expression + " }") + ": " + e.getMessage());
        }
    }

    private JsonNode one(String expression) {
        List<String> plain = programs.get(expression).usage().plain();
        if (plain != null) {
            return counted(read(scope, plain));
        }
        List<JsonNode> values = all(expression);
        if (values.size() > 1) {
            throw new ExpressionException("EXPRESSION_FAILED",
                    "the expression gives " + values.size() + " values; put it in [ ] to have them as a list");
        }
        return values.isEmpty() ? NullNode.instance : values.getFirst();
    }

    List<JsonNode> all(String expression) {
        return programs.get(expression).run(scope).stream().map(JqResult::of).map(this::counted).toList();
    }

    private JsonNode counted(JsonNode value) {
        chars += JsonSize.chars(value, limits.outputChars() - chars);
        if (chars > limits.outputChars()) {
            throw new ExpressionException("EXPRESSION_OUTPUT_TOO_LARGE",
                    "the result is longer than " + limits.outputChars() + " characters");
        }
        return value;
    }

    /**
     * Reads the most frequent expression, {@code .a.b.c}, without going through jq. As jq: null where a name is missing or its
     * parent is null.
     */
    private static JsonNode read(JsonNode scope, List<String> path) {
        JsonNode node = scope;
        for (String name : path) {
            if (!node.isObject() && !node.isNull()) {
                throw new ExpressionException("EXPRESSION_FAILED",
                        "cannot read ." + name + " of a " + node.getNodeType().name().toLowerCase(Locale.ROOT));
            }
            JsonNode child = node.get(name);
            node = child == null ? NullNode.instance : child;
        }
        return node;
    }
}
