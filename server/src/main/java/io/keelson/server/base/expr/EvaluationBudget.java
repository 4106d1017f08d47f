package io.keelson.server.base.expr;

import java.util.IdentityHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * The rest of one evaluation's budget. Nodes that loop, call or make values ask it at each turn, so a runaway ends wherever
 * it runs. Going over a bound throws {@link ExpressionException}, which jq's {@code try}
 * does not catch.
 */
final class EvaluationBudget {

    /** The budget of the evaluation that runs on this thread. */
    static final ScopedValue<EvaluationBudget> CURRENT = ScopedValue.newInstance();

    private static final int STEPS_BETWEEN_CHECKS = 64;
    private static final long LEAF_BYTES = 24;
    private static final long STRING_BYTES = 40;
    private static final long CONTAINER_BYTES = 64;
    private static final long SMALL_STRING = 256;
    private static final int MAX_NESTING = 500;
    private static final long COMPARISONS_A_MILLISECOND = 25_000;

    /** Estimated heap bytes, and how many containers stand inside one another. */
    private record Weight(long bytes, int depth) {
        private static final Weight LEAF = new Weight(LEAF_BYTES, 0);
    }

    private final ExpressionLimits limits;
    private final long deadline;
    private final Map<JsonNode, Weight> weights = new IdentityHashMap<>();
    private int depth;
    private int steps;
    private long total;

    EvaluationBudget(ExpressionLimits limits) {
        this.limits = limits;
        this.deadline = System.nanoTime() + limits.time().toNanos();
    }

    ExpressionLimits limits() {
        return limits;
    }

    void enter() {
        if (++depth > limits.depth()) {
            throw tooDeep();
        }
        step();
    }

    void leave() {
        depth--;
    }

    void step() {
        if (++steps % STEPS_BETWEEN_CHECKS == 0) {
            look();
        }
    }

    /** So many steps at once. */
    void work(long count) {
        steps += (int) Math.min(count, STEPS_BETWEEN_CHECKS);
        if (count >= STEPS_BETWEEN_CHECKS) {
            look();
        }
    }

    private void look() {
        if (Thread.currentThread().isInterrupted()) {
            throw new ExpressionException("EXPRESSION_INTERRUPTED", "the evaluation was interrupted");
        }
        if (System.nanoTime() - deadline > 0) {
            throw new ExpressionException("EXPRESSION_TIMEOUT",
                    "the expression ran longer than " + limits.time().toMillis() + " ms");
        }
    }

    /** Accounts for a value; values seen before cost nothing again. */
    void produced(JsonNode value) {
        step();
        if (value.isContainer() || value.isString() && value.stringValue().length() > SMALL_STRING) {
            checkValue(weigh(value));
        }
    }

    /** Refuses a value of that estimated size. */
    void checkValue(long bytes) {
        if (bytes > limits.valueBytes()) {
            throw new ExpressionException("EXPRESSION_OUTPUT_TOO_LARGE",
                    "a value of the expression takes more than " + limits.valueBytes() + " bytes");
        }
    }

    /** Refuses work of a builtin that cannot be interrupted while it runs. */
    void checkWork(long comparisons) {
        if (comparisons > limits.time().toMillis() * COMPARISONS_A_MILLISECOND) {
            throw new ExpressionException("EXPRESSION_TIMEOUT", "the expression compares too many values");
        }
    }

    /** The estimated heap bytes of a value. Refuses a value that is nested too deeply or too large. */
    long weigh(JsonNode value) {
        return weight(value, 0).bytes();
    }

    private Weight weight(JsonNode value, int above) {
        if (value.isString()) {
            return text(value);
        }
        if (!value.isContainer()) {
            return Weight.LEAF;
        }
        if (above > MAX_NESTING) {
            throw tooDeep();
        }
        Weight known = weights.get(value);
        return known != null ? known : container(value, above);
    }

    private Weight text(JsonNode value) {
        Weight weight = new Weight(STRING_BYTES + value.stringValue().length(), 0);
        if (value.stringValue().length() > SMALL_STRING && weights.put(value, weight) == null) {
            charge(weight.bytes());
        }
        return weight;
    }

    private Weight container(JsonNode value, int above) {
        long bytes = CONTAINER_BYTES;
        long shallow = CONTAINER_BYTES;
        int depth = 0;
        for (JsonNode child : value) {
            step();
            Weight weight = weight(child, above + 1);
            bytes += 8 + weight.bytes();
            shallow += child.isContainer() ? 8 : LEAF_BYTES;
            depth = Math.max(depth, weight.depth() + 1);
            checkValue(bytes);
        }
        for (String name : value.propertyNames()) {
            bytes += STRING_BYTES + name.length();
        }
        checkValue(bytes);
        if (depth > MAX_NESTING) {
            throw tooDeep();
        }
        Weight weight = new Weight(bytes, depth);
        weights.put(value, weight);
        charge(shallow);
        return weight;
    }

    private void charge(long bytes) {
        total += bytes;
        if (total > limits.totalBytes()) {
            throw new ExpressionException("EXPRESSION_OUTPUT_TOO_LARGE",
                    "the values of the expression take more than " + limits.totalBytes() + " bytes together");
        }
    }

    /** Refuses a path of so many keys. */
    void checkNesting(int keys) {
        if (keys > MAX_NESTING) {
            throw tooDeep();
        }
    }

    static ExpressionException tooDeep() {
        return new ExpressionException("EXPRESSION_TOO_DEEP", "the expression or its data is nested too deeply");
    }
}
