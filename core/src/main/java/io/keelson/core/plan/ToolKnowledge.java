package io.keelson.core.plan;

import java.util.List;

/** What the plan check may ask about tools and expressions; the server answers from its catalogue. */
public interface ToolKnowledge {

    boolean knows(String tool);

    /**
     * Checks a step's input against the tool's schema as far as it can be judged before expressions are evaluated, and
     * the syntax of those expressions.
     *
     * @param pointer JSON pointer of the input within the document
     */
    List<Problem> checkInput(StepSpec step, String pointer);

    /** Checks an expression's syntax. */
    List<Problem> checkExpression(String expression, String pointer);

    /** The ids of the tasks that a text with expressions names. */
    List<String> tasksNamedIn(String text);
}
