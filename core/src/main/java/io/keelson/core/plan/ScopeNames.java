package io.keelson.core.plan;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The names from which a path in an expression can start. They depend on the expression's place.
 *
 * @param known in alphabetical order
 */
public record ScopeNames(List<String> known) {
    public static final ScopeNames RUN_OUTPUT = of("inputs", "run", "tasks");
    public static final ScopeNames TASK = of("inputs", "run", "steps", "task", "tasks", "transcript");
    /** A task with {@code for_each}. */
    public static final ScopeNames EACH = of("index", "inputs", "item", "run", "steps", "task", "tasks", "transcript");
    /** A task with {@code repeat}. */
    public static final ScopeNames ROUND =
            of("inputs", "previous", "round", "run", "steps", "task", "tasks", "transcript");
    /** The condition of a switch's branch in a repeated group. */
    public static final ScopeNames BRANCH = of("inputs", "previous", "round", "run", "tasks");
    /** The condition that ends rounds. */
    public static final ScopeNames UNTIL = of("inputs", "output", "previous", "round", "run", "tasks");
    /** The calls that undo a task. */
    public static final ScopeNames UNDO =
            of("index", "input", "inputs", "item", "output", "round", "run", "steps", "task");
    public static final ScopeNames PLANNER = of("failure", "inputs", "run", "steps", "task", "tasks", "transcript");

    private static ScopeNames of(String... names) {
        return new ScopeNames(List.of(names));
    }

    /**
     * One problem for each name that does not exist at that place.
     *
     * @param used in the expression
     * @param at JSON pointer of the expression
     */
    public List<PlanProblem> check(Collection<String> used, String at, ToolKnowledge hints) {
        List<PlanProblem> problems = new ArrayList<>();
        used.stream().filter(name -> !known.contains(name)).sorted().forEach(name -> {
            boolean each = EACH.known.contains(name) && !TASK.known.contains(name);
            boolean round = ROUND.known.contains(name) && !TASK.known.contains(name);
            problems.add(new PlanProblem("UNKNOWN_REFERENCE", at,
                    "the expression names '." + PlanCheck.displayText(name)
                            + "', " + (each ? "which exists in a task with for_each only"
                                    : round ? "which exists in a task with repeat only"
                                            : "which does not exist here" + hints.hint(name, known))
                            + "; known: " + String.join(", ", known)));
        });
        return problems;
    }
}
