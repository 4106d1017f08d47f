package io.keelson.server.mission.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.ScopeNames;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.ToolKnowledge;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Judges what belongs to a run as a whole and to no task: its output, its hooks and its planner. */
final class RunChecks {
    private final ToolKnowledge tools;
    private final Set<String> tasks;
    /** True while the plan's tasks are unknown. */
    private final boolean unplanned;
    private final Set<String> inputs;
    private final List<PlanProblem> found = new ArrayList<>();

    /** @param plan of version 0 where a planner is to make it
     * @param inputs names of the inputs that the mission declares */
    RunChecks(ToolKnowledge tools, Plan plan, Set<String> inputs) {
        this.tools = tools;
        this.tasks = plan.tasks().stream().map(TaskSpec::id).collect(Collectors.toSet());
        this.unplanned = plan.version() == 0;
        this.inputs = inputs;
    }

    /** @param output JSON text with expressions; null if absent */
    List<PlanProblem> check(@Nullable String output, RunPolicy policy, String plannerAt) {
        if (output != null) {
            found.addAll(tools.checkTemplate(output, "/output"));
            names(output, ScopeNames.RUN_OUTPUT, tasks, "/output");
        }
        call(policy.hooks().before(), Set.of(), "/config/hooks/before_run", ScopeNames.TASK, false);
        call(policy.hooks().after(), tasks, "/config/hooks/after_run", ScopeNames.TASK, false);
        call(policy.failures().planner(), tasks, plannerAt, ScopeNames.PLANNER, unplanned);
        return found;
    }

    /** @param awaited whether a tool that no worker serves yet is waited for: a goal waits for its planner */
    private void call(@Nullable StepSpec call, Set<String> ended, String at, ScopeNames scope, boolean awaited) {
        if (call == null) {
            return;
        }
        if (call.kind() == StepKind.TOOL && !awaited && !tools.knows(call.tool())) {
            found.add(new PlanProblem("UNKNOWN_TOOL", at + "/tool", "no tool '" + Pointers.shown(call.tool())
                    + "': it is neither built in nor served by a worker that has registered"
                    + tools.hint(call.tool())));
            return;
        }
        found.addAll(tools.checkInput(call, at + "/input"));
        names(call.input(), scope, ended, at + "/input");
    }

    private void names(String template, ScopeNames scope, Set<String> ended, String at) {
        ToolKnowledge.Names names = tools.namesInTemplate(template);
        found.addAll(scope.check(names.roots(), at, tools));
        names.tasks().stream().filter(task -> !unplanned && !ended.contains(task))
                .forEach(task -> found.add(tasks.contains(task)
                        ? new PlanProblem("REFERENCE_NOT_UPSTREAM", at,
                                named("task", task, "which has not run by then"))
                        : new PlanProblem("UNKNOWN_REFERENCE", at, named("task", task, "which does not exist"))));
        names.inputs().stream().filter(input -> !inputs.contains(input)).forEach(
                input -> found
                        .add(new PlanProblem("UNKNOWN_REFERENCE", at, named("input", input, "which is not declared"))));
    }

    private static String named(String kind, String name, String why) {
        return "the expression names " + kind + " '" + Pointers.shown(name) + "', " + why;
    }
}
