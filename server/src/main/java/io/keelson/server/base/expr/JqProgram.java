package io.keelson.server.base.expr;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * A parsed jq expression, safe to run by many threads at once.
 *
 * @param usage the parts of the input that it names
 */
record JqProgram(JqNode node, ScopeUsage usage) {

    /** Messages of errors show values, or heads of them. */
    static final String WITHOUT_VALUES =
            "the expression failed; its values are not shown, because they contain a secret";
    private static final int MAX_BRACKETS = 100;

    /** @throws ExpressionException {@code EXPRESSION_SYNTAX} */
    static JqProgram compile(String text, int maxChars) {
        if (text.isBlank()) {
            throw JqTokens.refused("the expression is empty");
        }
        if (text.length() > maxChars) {
            throw JqTokens.refused("the expression is longer than " + maxChars + " characters");
        }
        if (JqBraces.nesting(text) > MAX_BRACKETS) {
            throw JqTokens.refused("the expression has more than " + MAX_BRACKETS + " nested brackets");
        }
        try {
            JqNode node = JqParser.parse(text);
            return new JqProgram(node, ScopeUsage.of(node));
        } catch (StackOverflowError e) {
            throw EvaluationBudget.tooDeep();
        }
    }

    /** All values the program gives for the input. Runs within {@link EvaluationBudget#CURRENT}. */
    List<JsonNode> run(JsonNode input) {
        List<JsonNode> values = new ArrayList<>();
        long[] bytes = new long[1];
        EvaluationBudget budget = EvaluationBudget.CURRENT.get();
        try {
            node.values(new JqEnv(budget), input, value -> {
                bytes[0] += budget.weigh(value);
                budget.checkValue(bytes[0]);
                values.add(value);
            });
        } catch (JqError e) {
            throw new ExpressionException("EXPRESSION_FAILED",
                    usage.secrets().isEmpty() ? e.getMessage().lines().findFirst().orElse("") : WITHOUT_VALUES);
        } catch (StackOverflowError e) {
            throw EvaluationBudget.tooDeep();
        }
        return values;
    }
}
