package io.keelson.core.plan;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Knows the tools {@code echo} and {@code noop}; an input must not hold the word {@code bad}; {@code @a} names the task
 * a, {@code %a} the step, {@code $a} the input and
 * {@code ^a} a name of the scope.
 */
final class SimpleTools implements ToolKnowledge {
    private static final Pattern NAMED = Pattern.compile("([@%$^])(\\w+)");

    @Override
    public boolean knows(String tool) {
        return tool.equals("echo") || tool.equals("noop");
    }

    @Override
    public List<PlanProblem> checkInput(StepSpec step, String pointer) {
        return checkExpression(step.input(), pointer);
    }

    @Override
    public List<PlanProblem> checkExpression(String expression, String pointer) {
        return expression.contains("bad") ? List.of(new PlanProblem("BAD", pointer, "bad")) : List.of();
    }

    @Override
    public List<PlanProblem> checkTemplate(String json, String pointer) {
        return checkExpression(json, pointer);
    }

    @Override
    public Names namesInExpression(String expression) {
        return new Names(named('@', expression), false, named('%', expression), named('$', expression),
                named('^', expression), List.of());
    }

    @Override
    public Names namesInTemplate(String json) {
        return namesInExpression(json);
    }

    private static List<String> named(char sign, String text) {
        return NAMED.matcher(text).results().filter(found -> found.group(1).charAt(0) == sign)
                .map((MatchResult found) -> found.group(2)).toList();
    }
}
