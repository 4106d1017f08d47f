package io.keelson.server.expr;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import net.thisptr.jackson.jq.Expression;
import net.thisptr.jackson.jq.Scope;
import net.thisptr.jackson.jq.exception.JsonQueryException;
import net.thisptr.jackson.jq.internal.javacc.ExpressionParser;
import net.thisptr.jackson.jq.internal.javacc.TokenMgrError;
import net.thisptr.jackson.jq.internal.operators.BinaryOperator;
import net.thisptr.jackson.jq.internal.tree.ArrayConstruction;
import net.thisptr.jackson.jq.internal.tree.ThisObject;
import net.thisptr.jackson.jq.internal.tree.literal.ValueLiteral;

/**
 * A parsed jq expression, safe to run by many threads at once.
 *
 * @param guarded runs within {@link EvaluationBudget#CURRENT}
 * @param usage what it names of its input
 */
record JqProgram(Expression guarded, ScopeUsage usage) {

    /** The engine's own messages show values, or heads of them. */
    static final String WITHOUT_VALUES =
            "the expression failed; its values are not shown, because they contain a secret";
    private static final int MAX_BRACKETS = 100;

    /** @throws ExpressionException {@code EXPRESSION_SYNTAX} */
    static JqProgram compile(String text, int maxChars) {
        if (text.isBlank()) {
            throw syntax("the expression is empty");
        }
        if (text.length() > maxChars) {
            throw syntax("the expression is longer than " + maxChars + " characters");
        }
        if (JqText.nesting(text) > MAX_BRACKETS) {
            throw syntax("the expression has more than " + MAX_BRACKETS + " nested brackets");
        }
        try {
            Expression parsed = ExpressionParser.compile(text, JqBuiltins.VERSION);
            NameCheck.check(parsed);
            ScopeUsage usage = ScopeUsage.of(parsed);
            return new JqProgram(guard(parsed), usage);
        } catch (JsonQueryException | TokenMgrError e) {
            throw syntax(firstLine(e.getCause() == null ? e : e.getCause()));
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
            guarded.apply(Scope.newChildScope(JqBuiltins.ROOT), input, null, (value, path) -> {
                bytes[0] += budget.weigh(value);
                budget.checkValue(bytes[0]);
                values.add(value);
            }, false);
        } catch (JsonQueryException e) {
            throw new ExpressionException("EXPRESSION_FAILED",
                    usage.secrets().isEmpty() ? firstLine(e) : WITHOUT_VALUES);
        } catch (StackOverflowError e) {
            throw EvaluationBudget.tooDeep();
        }
        return values;
    }

    static Expression guard(Expression parsed) {
        JqTree.rewrite(parsed, JqProgram::guardNode);
        return (Expression) guardNode(parsed);
    }

    static Object guardNode(Object node) {
        if (node instanceof BinaryOperator operator) {
            return new GuardedOperator(operator);
        }
        if (node instanceof ArrayConstruction array && array.q != null) {
            return new Guard(new ArrayConstruction(new Guard(array.q, true)), false);
        }
        boolean leaf = node instanceof ThisObject || node instanceof ValueLiteral;
        return node instanceof Expression expression && !leaf ? new Guard(expression, false) : node;
    }

    private static ExpressionException syntax(String message) {
        return new ExpressionException("EXPRESSION_SYNTAX", message);
    }

    private static String firstLine(Throwable e) {
        String message = String.valueOf(e.getMessage());
        return message.lines().findFirst().orElse("").strip();
    }
}
