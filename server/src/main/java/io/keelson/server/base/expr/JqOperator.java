package io.keelson.server.base.expr;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/** Arithmetic and comparison of two values. */
enum JqOperator {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST;

    /** The error of two values that do not fit the operation. */
    private static JqError cannot(JsonNode a, JsonNode b, String what) {
        return JqError.of(JqValue.shown(a) + " and " + JqValue.shown(b) + " cannot be " + what);
    }

    JsonNode of(JsonNode a, JsonNode b, EvaluationBudget budget) {
        budget.step();
        JsonNode result = switch (this) {
            case ADD -> add(a, b, budget);
            case SUBTRACT -> subtract(a, b, budget);
            case MULTIPLY -> multiply(a, b, budget);
            case DIVIDE -> divide(a, b);
            case REMAINDER -> remainder(a, b);
            case EQUAL -> JqValue.bool(JqValue.equal(a, b, budget));
            case UNEQUAL -> JqValue.bool(!JqValue.equal(a, b, budget));
            case LESS -> JqValue.bool(JqNumber.isNan(a) && b.isNumber() || JqValue.compare(a, b, budget) < 0);
            case AT_MOST -> JqValue.bool(JqNumber.isNan(a) && b.isNumber() || JqValue.compare(a, b, budget) <= 0);
            case GREATER -> JqValue.bool(!(JqNumber.isNan(a) && b.isNumber()) && JqValue.compare(a, b, budget) > 0);
            case AT_LEAST -> JqValue.bool(!(JqNumber.isNan(a) && b.isNumber()) && JqValue.compare(a, b, budget) >= 0);
        };
        budget.produced(result);
        return result;
    }

    static JsonNode add(JsonNode a, JsonNode b, EvaluationBudget budget) {
        if (a.isNull() || b.isNull()) {
            return a.isNull() ? b : a;
        }
        if (a.isNumber() && b.isNumber()) {
            return JqNumber.add(a, b);
        }
        if (a.isString() && b.isString()) {
            budget.checkValue((long) a.stringValue().length() + b.stringValue().length());
            return JqValue.text(a.stringValue() + b.stringValue());
        }
        if (a.isArray() && b.isArray()) {
            budget.work(a.size() + b.size());
            budget.checkValue(budget.weigh(a) + budget.weigh(b));
            ArrayNode sum = JsonNodeFactory.instance.arrayNode(a.size() + b.size());
            a.forEach(sum::add);
            b.forEach(sum::add);
            return sum;
        }
        if (a.isObject() && b.isObject()) {
            budget.work(a.size() + b.size());
            ObjectNode sum = JqValue.copy(a);
            b.properties().forEach(each -> sum.set(each.getKey(), each.getValue()));
            return sum;
        }
        throw cannot(a, b, "added");
    }

    private static JsonNode subtract(JsonNode a, JsonNode b, EvaluationBudget budget) {
        if (a.isNumber() && b.isNumber()) {
            return JqNumber.subtract(a, b);
        }
        if (a.isArray() && b.isArray()) {
            ArrayNode rest = JsonNodeFactory.instance.arrayNode();
            a.forEach(each -> {
                if (b.valueStream().noneMatch(gone -> JqValue.equal(each, gone, budget))) {
                    rest.add(each);
                }
            });
            return rest;
        }
        throw cannot(a, b, "subtracted");
    }

    private static JsonNode multiply(JsonNode a, JsonNode b, EvaluationBudget budget) {
        if (a.isNumber() && b.isNumber()) {
            return JqNumber.multiply(a, b);
        }
        if (a.isString() && b.isNumber() || a.isNumber() && b.isString()) {
            return repeat(a.isString() ? a.stringValue() : b.stringValue(), JqNumber.value(a.isNumber() ? a : b),
                    budget);
        }
        if (a.isObject() && b.isObject()) {
            return merge(a, b, budget);
        }
        throw cannot(a, b, "multiplied");
    }

    private static JsonNode repeat(String text, double times, EvaluationBudget budget) {
        if (Double.isNaN(times) || times < 0) {
            return NullNode.instance;
        }
        budget.checkValue((long) (text.length() * times));
        return JqValue.text(text.repeat(text.isEmpty() ? 0 : (int) times));
    }

    private static JsonNode merge(JsonNode a, JsonNode b, EvaluationBudget budget) {
        budget.work(a.size() + b.size());
        ObjectNode merged = JqValue.copy(a);
        b.properties().forEach(each -> {
            JsonNode mine = merged.get(each.getKey());
            boolean both = mine != null && mine.isObject() && each.getValue().isObject();
            merged.set(each.getKey(), both ? merge(mine, each.getValue(), budget) : each.getValue());
        });
        return merged;
    }

    private static JsonNode divide(JsonNode a, JsonNode b) {
        if (a.isNumber() && b.isNumber()) {
            if (JqNumber.value(b) == 0) {
                throw cannot(a, b, "divided because the divisor is zero");
            }
            return JqNumber.divide(a, b);
        }
        if (a.isString() && b.isString()) {
            return JqValue.array(JqText.split(a.stringValue(), b.stringValue()));
        }
        throw cannot(a, b, "divided");
    }

    private static JsonNode remainder(JsonNode a, JsonNode b) {
        if (!a.isNumber() || !b.isNumber()) {
            throw cannot(a, b, "divided");
        }
        if (!JqNumber.isNan(b) && JqNumber.whole(b) == 0) {
            throw cannot(a, b, "divided (remainder) because the divisor is zero");
        }
        return JqNumber.remainder(a, b);
    }
}
