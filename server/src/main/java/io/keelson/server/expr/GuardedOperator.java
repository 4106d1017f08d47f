package io.keelson.server.expr;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import net.thisptr.jackson.jq.exception.JsonQueryException;
import net.thisptr.jackson.jq.internal.operators.BinaryOperator;

/** A binary operator that looks at the size of {@code "text" * n} before it makes the text. */
record GuardedOperator(BinaryOperator inner) implements BinaryOperator {

    @Override
    public JsonNode apply(ObjectMapper mapper, JsonNode left, JsonNode right) throws JsonQueryException {
        if (image().startsWith("*") && (left.isTextual() || right.isTextual())) {
            JsonNode text = left.isTextual() ? left : right;
            JsonNode times = left.isTextual() ? right : left;
            EvaluationBudget.CURRENT.get().checkValue((long) (text.asText().length() * times.doubleValue()));
        }
        return inner.apply(mapper, left, right);
    }

    @Override
    public String image() {
        return inner.image();
    }
}
