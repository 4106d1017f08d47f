package io.keelson.core.plan;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Checks that names in expressions exist when they are evaluated: names of the scope, declared inputs, ended tasks,
 * and earlier steps of the same task. The graph must have no cycle.
 */
final class ReferenceCheck {
    private final Plan plan;
    private final ToolKnowledge tools;
    private final Set<String> inputs;
    private final Map<String, Integer> indexOf;
    private final PlanGraph graph;
    private final Consumer<PlanProblem> problems;
    private final Map<String, String> loops;

    ReferenceCheck(Plan plan, ToolKnowledge tools, Set<String> inputs, Map<String, Integer> indexOf, PlanGraph graph,
            Consumer<PlanProblem> problems) {
        this.plan = plan;
        this.tools = tools;
        this.inputs = inputs;
        this.indexOf = indexOf;
        this.graph = graph;
        this.problems = problems;
        this.loops = plan.loops();
    }

    void check() {
        for (int i = 0; i < plan.tasks().size(); i++) {
            task(i, plan.tasks().get(i), "/plan/tasks/" + i);
        }
    }

    private void task(int index, TaskSpec task, String at) {
        List<String> steps = task.steps().stream().map(StepSpec::name).toList();
        Repeat repeat = task.policy().repeat();
        ScopeNames once = task.forEach() == null ? ScopeNames.TASK : ScopeNames.EACH;
        boolean member = loops.containsKey(task.id());
        ScopeNames scope = repeat == null && !member ? once : ScopeNames.ROUND;
        Set<String> ended = new HashSet<>();
        for (int s = 0; s < task.steps().size(); s++) {
            StepSpec step = task.steps().get(s);
            check(tools.namesInInput(step), scope, index, steps, ended, at + "/steps/" + s + "/input");
            Reuse.Rule rule = task.policy().reuse() == null ? null : task.policy().reuse().steps().get(step.name());
            if (rule != null && rule.key() != null) {
                check(tools.namesInExpression(rule.key()), scope, index, steps, ended,
                        Reuse.pointer(step, at, s) + "/key");
            }
            if (!task.parallelSteps()) {
                ended.add(step.name());
            }
        }
        for (int v = 0; v < task.policy().verify().size(); v++) {
            check(tools.namesInTemplate(task.policy().verify().get(v).input()), scope, index, steps, steps,
                    at + "/verify/" + v + "/input");
        }
        Undo undo = task.policy().undo();
        if (undo != null) {
            undo(undo.whole(), index, at + "/undo");
            for (int s = 0; s < task.steps().size(); s++) {
                undo(undo.steps().getOrDefault(steps.get(s), List.of()), index, at + "/steps/" + s + "/undo");
            }
        }
        if (task.when() != null) {
            check(tools.namesInExpression(task.when()), member ? scope : once, index, steps, Set.of(), at + "/when");
        }
        if (task.forEach() != null) {
            check(tools.namesInExpression(task.forEach()), scope, index, steps, Set.of(), at + "/for_each");
        }
        if (repeat != null) {
            check(tools.namesInExpression(repeat.until()), ScopeNames.UNTIL, index, List.of(), Set.of(),
                    at + "/repeat/until");
        }
        Flow flow = task.policy().flow();
        for (int b = 0; flow != null && b < flow.branches().size(); b++) {
            String when = flow.branches().get(b).when();
            if (when != null) {
                check(tools.namesInExpression(when), member ? ScopeNames.BRANCH : ScopeNames.RUN_OUTPUT, index,
                        List.of(), Set.of(),
                        at + "/flow/branches/" + b + "/when");
            }
        }
        if (task.policy().label() != null) {
            check(tools.namesInTemplate(task.policy().label()), scope, index, steps, Set.of(), at + "/label");
        }
        if (task.output() != null) {
            ToolKnowledge.Names names = tools.namesInTemplate(task.output());
            Set<String> others = new HashSet<>(names.tasks());
            others.remove(task.id());
            check(new ToolKnowledge.Names(others, names.allTasks(), names.steps(), names.inputs(), names.roots(),
                    names.rounds()), scope, index, steps, steps, at + "/output");
        }
    }

    /** The calls of an undo see the original, and the calls before them. */
    private void undo(List<StepSpec> calls, int task, String at) {
        List<String> names = calls.stream().map(StepSpec::name).toList();
        for (int i = 0; i < calls.size(); i++) {
            check(tools.namesInInput(calls.get(i)), ScopeNames.UNDO, task, names, names.subList(0, i),
                    at + "/" + i + "/input");
        }
    }

    private void check(ToolKnowledge.Names names, ScopeNames scope, int task, List<String> steps,
            Collection<String> ended, String at) {
        scope.check(names.roots(), at, tools).forEach(problems);
        names.inputs().stream().filter(input -> !inputs.contains(input))
                .forEach(input -> report("UNKNOWN_REFERENCE", at, "input", input, "which is not declared"));
        for (String name : scope.known().contains("tasks") ? names.tasks() : Set.<String>of()) {
            Integer upstream = indexOf.get(name);
            if (upstream == null) {
                report("UNKNOWN_REFERENCE", at, "task", name, "which does not exist");
            } else if (!hasEnded(upstream, task)) {
                String loop = loops.get(name);
                report("REFERENCE_NOT_UPSTREAM", at, "task", name,
                        loop == null || loop.equals(loops.get(plan.tasks().get(task).id()))
                                ? "which need not have ended by then: add it to depends_on"
                                : "which is done in rounds: name '" + loop
                                        + "', whose output has those of the last round");
            }
        }
        rounds(names, scope, plan.tasks().get(task), at);
        for (String name : scope.known().contains("steps") ? names.steps() : Set.<String>of()) {
            if (!steps.contains(name)) {
                report("UNKNOWN_REFERENCE", at, "step", name, "which this task does not have");
            } else if (!ended.contains(name)) {
                report("REFERENCE_NOT_UPSTREAM", at, "step", name, "which has not ended by then");
            }
        }
    }

    /** The output of a round of a group has a member for each of its tasks. */
    private void rounds(ToolKnowledge.Names names, ScopeNames scope, TaskSpec task, String at) {
        Integer loop = indexOf.get(loops.getOrDefault(task.id(), task.id()));
        Repeat repeat = loop == null ? null : plan.tasks().get(loop).policy().repeat();
        if (repeat == null || repeat.tasks().isEmpty()) {
            return;
        }
        for (String path : names.rounds()) {
            String root = path.substring(0, path.indexOf('.'));
            String name = path.substring(root.length() + 1);
            boolean ofRound = root.equals("output") ? scope == ScopeNames.UNTIL : scope.known().contains(root);
            if (ofRound && names.roots().contains(root) && !repeat.tasks().contains(name)) {
                problems.accept(new PlanProblem("UNKNOWN_REFERENCE", at, "the expression names '."
                        + PlanCheck.displayText(path) + "', and the group has no such task"
                        + tools.hint(name, repeat.tasks()) + "; known: " + String.join(", ", repeat.tasks())));
            }
        }
    }

    /** Whether a task has ended before another one begins. The members of a group have ended when its condition is evaluated. */
    private boolean hasEnded(int upstream, int task) {
        String id = plan.tasks().get(task).id();
        String loop = loops.get(id);
        return graph.isUpstream(upstream, task) || id.equals(loops.get(plan.tasks().get(upstream).id()))
                || loop != null && graph.isUpstream(upstream, Objects.requireNonNull(indexOf.get(loop)));
    }

    private void report(String code, String at, String kind, String name, String why) {
        problems.accept(
                new PlanProblem(code, at, "the expression names " + kind + " '" + PlanCheck.displayText(name) + "', "
                        + why));
    }
}
