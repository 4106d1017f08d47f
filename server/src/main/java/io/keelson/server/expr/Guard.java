package io.keelson.server.expr;

import com.fasterxml.jackson.databind.JsonNode;
import net.thisptr.jackson.jq.Expression;
import net.thisptr.jackson.jq.PathOutput;
import net.thisptr.jackson.jq.Scope;
import net.thisptr.jackson.jq.exception.JsonQueryException;
import net.thisptr.jackson.jq.path.ArrayIndexPath;
import net.thisptr.jackson.jq.path.Path;
import org.jspecify.annotations.Nullable;

/**
 * A node of the syntax tree that runs within the current {@link EvaluationBudget}.
 *
 * @param collecting whether its values are gathered in memory until it ends, as in {@code [ … ]}
 */
record Guard(Expression inner, boolean collecting) implements Expression {

    /** An index this high would make an assignment fill an array with that many nulls. */
    static final int MAX_INDEX = 1_000_000;

    @Override
    public void apply(Scope scope, JsonNode in, @Nullable Path path, PathOutput output, boolean requirePath)
            throws JsonQueryException {
        EvaluationBudget budget = EvaluationBudget.CURRENT.get();
        budget.enter();
        try {
            inner.apply(scope, in, path, collecting ? gathered(budget, output) : checked(budget, output), requirePath);
        } finally {
            budget.leave();
        }
    }

    private static PathOutput checked(EvaluationBudget budget, PathOutput output) {
        return (value, path) -> {
            budget.produced(value);
            if (path instanceof ArrayIndexPath at && at.index.isNumber() && at.index.doubleValue() > MAX_INDEX) {
                throw new ExpressionException("EXPRESSION_OUTPUT_TOO_LARGE", "an array index is above " + MAX_INDEX);
            }
            output.emit(value, path);
        };
    }

    private static PathOutput gathered(EvaluationBudget budget, PathOutput output) {
        long[] bytes = new long[1];
        return (value, path) -> {
            budget.produced(value);
            bytes[0] += 8 + budget.weigh(value);
            budget.checkValue(bytes[0]);
            output.emit(value, path);
        };
    }
}
