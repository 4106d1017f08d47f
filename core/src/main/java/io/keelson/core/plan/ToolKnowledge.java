package io.keelson.core.plan;

import java.util.Collection;
import java.util.List;

/** What the plan check may ask about tools and expressions; the server answers from its catalogue. */
public interface ToolKnowledge {

    boolean knows(String tool);

    /** For a tool that is not known: {@code "; did you mean 'x'?"} where a known one has a similar name, else empty. */
    default String hint(String tool) {
        return "";
    }

    /**
     * Checks a step's input against the tool's schema as far as it can be judged before expressions are evaluated, and
     * the syntax of those expressions.
     *
     * @param pointer JSON pointer of the input within the document
     */
    List<Problem> checkInput(StepSpec step, String pointer);

    /** Checks the syntax of a text that is exactly one expression. */
    List<Problem> checkExpression(String expression, String pointer);

    /** Checks the syntax of the expressions in a JSON text. */
    List<Problem> checkTemplate(String json, String pointer);

    /** What an expression names of its surroundings. */
    Names namesInExpression(String expression);

    /** What the expressions in a JSON text name of their surroundings. */
    Names namesInTemplate(String json);

    /** What the expressions in a step's input name; what is in it for somebody else to evaluate does not count. */
    default Names namesInInput(StepSpec step) {
        return namesInTemplate(step.input());
    }

    /**
     * What expressions name, as far as they say it.
     *
     * @param tasks ids after {@code .tasks}
     * @param steps names after {@code .steps}
     * @param inputs names after {@code .inputs}
     */
    record Names(Collection<String> tasks, Collection<String> steps, Collection<String> inputs) {
        public static final Names NONE = new Names(List.of(), List.of(), List.of());
    }
}
