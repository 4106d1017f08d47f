package io.keelson.core.plan;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Knows the tools {@code echo} and {@code noop}; an input must not hold the word {@code bad}; {@code @t1} names t1. */
final class SimpleTools implements ToolKnowledge {
    private static final Pattern NAMED = Pattern.compile("@(\\w+)");

    @Override
    public boolean knows(String tool) {
        return tool.equals("echo") || tool.equals("noop");
    }

    @Override
    public List<Problem> checkInput(StepSpec step, String pointer) {
        return checkExpression(step.input(), pointer);
    }

    @Override
    public List<Problem> checkExpression(String expression, String pointer) {
        return expression.contains("bad") ? List.of(new Problem("BAD", pointer, "bad")) : List.of();
    }

    @Override
    public List<Problem> checkTemplate(String json, String pointer) {
        return checkExpression(json, pointer);
    }

    @Override
    public List<String> tasksNamedInExpression(String expression) {
        return NAMED.matcher(expression).results().map((MatchResult found) -> found.group(1)).toList();
    }

    @Override
    public List<String> tasksNamedInTemplate(String json) {
        return tasksNamedInExpression(json);
    }
}
