package io.keelson.core.plan;

import io.keelson.core.policy.Effects;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Facts about tools and expressions for the plan check; the server implements it with its catalogue. */
public interface ToolKnowledge {

    boolean knows(String tool);

    /** Whether the tool's results come from outside: text of strangers. False for tools of workers and unknown ones. */
    default boolean openWorld(String tool) {
        return false;
    }

    /** The effects of the tool's calls; null for tools of workers and unknown ones. */
    default @Nullable Effects effects(String tool) {
        return null;
    }

    /** Whether a step's input opens secrets. */
    default boolean opensSecrets(StepSpec step) {
        return false;
    }

    /** The workspace's rule about tools. */
    default ToolPolicy.Rule workspaceRule() {
        return new ToolPolicy.Rule(ToolPolicy.Level.WORKSPACE, null, List.of());
    }

    /**
     * The suggestion for an unknown tool: {@code "; did you mean 'x'?"} if a known tool has a similar name, else empty.
     */
    default String hint(String tool) {
        return "";
    }

    /** {@code "; did you mean 'x'?"} where a known name is similar, else empty. */
    default String hint(String name, Collection<String> known) {
        return "";
    }

    /** Why no call of a tool of that name is made now, with the command that changes it; null where calls are made. */
    default @Nullable String unusable(String tool) {
        return null;
    }

    /**
     * Checks a step's input against the tool's schema as far as it can be judged before expressions are evaluated, and
     * the syntax of those expressions.
     *
     * @param pointer JSON pointer of the input within the document
     */
    List<PlanProblem> checkInput(StepSpec step, String pointer);

    /** Checks the syntax of a text that is exactly one expression. */
    List<PlanProblem> checkExpression(String expression, String pointer);

    /** Checks the syntax of the expressions in a JSON text. */
    List<PlanProblem> checkTemplate(String json, String pointer);

    /** The names in an expression. */
    Names namesInExpression(String expression);

    /** The names in the expressions of a JSON text. */
    Names namesInTemplate(String json);

    /** The names in the expressions of a step's input, without expressions that are evaluated elsewhere. */
    default Names namesInInput(StepSpec step) {
        return namesInTemplate(step.input());
    }

    /**
     * Names in expressions, as far as they are literal.
     *
     * @param tasks ids after {@code .tasks}
     * @param allTasks whether the expressions can reach tasks that they do not name
     * @param steps names after {@code .steps}
     * @param inputs names after {@code .inputs}
     * @param roots first names of paths that are certainly read from the scope itself
     * @param rounds names after {@code .output} and {@code .previous}, with these: {@code previous.NAME}
     */
    record Names(Collection<String> tasks, boolean allTasks, Collection<String> steps,
            Collection<String> inputs, Collection<String> roots, Collection<String> rounds) {
        public static final Names NONE = new Names(List.of(), false, List.of(), List.of(), List.of(), List.of());
    }
}
