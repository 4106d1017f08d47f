package io.keelson.server.base.expr;

import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/**
 * The names of a template's scope, found without running it.
 *
 * @param tasks ids after {@code .tasks}
 * @param allTasks whether it can reach tasks it does not name, for example {@code .tasks | keys} or {@code .}
 * @param steps names after {@code .steps}
 * @param inputs names after {@code .inputs}
 * @param others other parts of the scope that it reads: {@code run.plan} for example, or the whole {@code run}
 * @param secrets names of the secrets that it opens
 * @param all whether it can reach its whole scope
 * @param roots the first names of paths that are certainly read from the scope itself, {@code inputs} for example
 */
public record References(Set<String> tasks, boolean allTasks, Set<String> steps, boolean allSteps, Set<String> inputs,
        boolean allInputs, Set<String> others, Set<String> secrets, boolean all, Set<String> roots) {

    public References {
        tasks = sorted(tasks);
        steps = sorted(steps);
        inputs = sorted(inputs);
        others = sorted(others);
        secrets = sorted(secrets);
        roots = sorted(roots);
    }

    /** In one order everywhere: the problems of a mission are reported in this order. */
    private static Set<String> sorted(Set<String> names) {
        return Collections.unmodifiableSet(new TreeSet<>(names));
    }

    /** Whether it can reach that part, named from the top: {@code reach("run", "plan")}. */
    public boolean reach(String top, String name) {
        return all || others.contains(top) || others.contains(top + "." + name);
    }

    /** Whether it can reach anything of that part of its scope. */
    public boolean reach(String top) {
        return all || others.stream().anyMatch(each -> each.equals(top) || each.startsWith(top + "."));
    }
}
