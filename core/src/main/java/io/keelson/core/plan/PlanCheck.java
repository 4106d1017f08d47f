package io.keelson.core.plan;

import io.keelson.core.policy.Effects;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks a whole plan and reports all problems at once: duplicate names, unknown tools, inputs that break their schema,
 * dangling or circular dependencies, references to tasks that may not have run.
 */
public final class PlanCheck {
    private static final int PATH_SHOWN = 20;

    private final Plan plan;
    private final ToolKnowledge tools;
    private final List<PlanProblem> problems = new ArrayList<>();
    private final Map<String, Integer> indexOf = new LinkedHashMap<>();
    /** The repeated groups of the tasks in them. */
    private final Map<String, String> loops;

    private PlanCheck(Plan plan, ToolKnowledge tools) {
        this.plan = plan;
        this.tools = tools;
        this.loops = plan.loops();
    }

    /**
     * All problems of the plan; empty when it is valid.
     *
     * @param inputs names of the inputs that the mission declares
     */
    public static List<PlanProblem> check(Plan plan, ToolKnowledge tools, Set<String> inputs) {
        PlanCheck check = new PlanCheck(plan, tools);
        check.names();
        for (int i = 0; i < plan.tasks().size(); i++) {
            check.steps(plan.tasks().get(i), "/plan/tasks/" + i);
        }
        PlanGraph graph = new PlanGraph(plan, check.indexOf);
        check.dependencies(graph);
        if (check.problems.stream().noneMatch(p -> p.code().startsWith("DEPENDENCY_"))) {
            new ReferenceCheck(plan, tools, inputs, check.indexOf, graph, check.problems::add).check();
        }
        return List.copyOf(check.problems);
    }

    private void names() {
        for (int i = 0; i < plan.tasks().size(); i++) {
            String id = plan.tasks().get(i).id();
            Integer first = indexOf.putIfAbsent(id, i);
            if (first != null) {
                report("DUPLICATE_NAME", "/plan/tasks/" + i + "/id",
                        "task id '" + displayText(id) + "' is already used by task " + first);
            }
        }
    }

    private void steps(TaskSpec task, String at) {
        Set<String> names = new HashSet<>();
        for (int i = 0; i < task.steps().size(); i++) {
            StepSpec step = task.steps().get(i);
            String here = at + "/steps/" + i;
            if (!names.add(step.name())) {
                report("DUPLICATE_NAME", here + "/name",
                        "step name '" + displayText(step.name()) + "' is used twice in task '" + displayText(task.id())
                                + "'");
            }
            call(step, here);
        }
        for (int i = 0; i < task.policy().verify().size(); i++) {
            StepSpec verifier = task.policy().verify().get(i);
            String here = at + "/verify/" + i;
            if (!names.add(verifier.name())) {
                report("DUPLICATE_NAME", here, "a step of task '" + displayText(task.id()) + "' is called '"
                        + verifier.name() + "', as this verification is");
            }
            call(verifier, here);
        }
        cache(task, at);
        Undo undo = task.policy().undo();
        if (undo != null) {
            undo(undo.whole(), at + "/undo");
            for (int i = 0; i < task.steps().size(); i++) {
                List<StepSpec> calls = undo.steps().getOrDefault(task.steps().get(i).name(), List.of());
                undo(calls, at + "/steps/" + i + "/undo");
                if (!calls.isEmpty()) {
                    refuseFolded(task, at + "/steps/" + i + "/undo");
                }
            }
        }
        if (loops.containsKey(task.id())) {
            refuseNested(task, task.forEach() != null, at + "/for_each");
            refuseNested(task, task.policy().repeat() != null, at + "/repeat");
        }
        expression(task.when(), at + "/when");
        expression(task.forEach(), at + "/for_each");
        Repeat repeat = task.policy().repeat();
        if (repeat != null) {
            expression(repeat.until(), at + "/repeat/until");
            members(task, repeat, at + "/repeat/tasks");
            if (task.forEach() != null) {
                report("REPEAT_WITH_FOR_EACH", at + "/repeat", "task '" + displayText(task.id())
                        + "' has repeat and for_each: start a run with the rounds for each item instead");
            }
        }
        Flow flow = task.policy().flow();
        for (int i = 0; flow != null && i < flow.branches().size(); i++) {
            expression(flow.branches().get(i).when(), at + "/flow/branches/" + i + "/when");
        }
        String label = task.policy().label();
        if (label != null) {
            problems.addAll(tools.checkTemplate(label, at + "/label"));
            if (task.forEach() == null) {
                report("LABEL_WITHOUT_FOR_EACH", at + "/label", "a label names the items of a for_each, and task '"
                        + displayText(task.id()) + "' has none: it has a title");
            }
        }
        if (task.output() != null) {
            problems.addAll(tools.checkTemplate(task.output(), at + "/output"));
        }
    }

    /** A group is before its tasks. */
    private void members(TaskSpec group, Repeat repeat, String at) {
        for (int i = 0; i < repeat.tasks().size(); i++) {
            Integer member = indexOf.get(group.id() + "." + repeat.tasks().get(i));
            if (member == null || member <= indexOf.getOrDefault(group.id(), 0)) {
                report("UNKNOWN_REFERENCE", at + "/" + i, "no task '" + displayText(group.id()) + "."
                        + displayText(repeat.tasks().get(i)) + "' follows");
            }
        }
    }

    /** The steps of folded rounds are gone, and their outputs with them. */
    private void refuseFolded(TaskSpec task, String at) {
        Integer loop = indexOf.get(loops.getOrDefault(task.id(), task.id()));
        Repeat repeat = loop == null ? null : plan.tasks().get(loop).policy().repeat();
        if (repeat != null && repeat.max() > repeat.keep()) {
            report("UNDO_FOLDED", at, "rounds before the last " + repeat.keep() + " of up to " + repeat.max()
                    + " are folded, and their steps are gone: give task '" + displayText(task.id())
                    + "' the undo instead, or its repeat a keep of max");
        }
    }

    private void refuseNested(TaskSpec task, boolean inner, String at) {
        if (inner) {
            report("REPEAT_NESTED", at, "task '" + displayText(task.id()) + "' is done in rounds of '"
                    + displayText(String.valueOf(loops.get(task.id())))
                    + "': start a run with the inner rounds or items instead");
        }
    }

    private void call(StepSpec step, String at) {
        boolean called = step.kind() == StepKind.TOOL || step.kind() == StepKind.VERIFY;
        if (called && !tools.knows(step.tool())) {
            report("UNKNOWN_TOOL", at + "/tool", "no tool '" + displayText(step.tool())
                    + "': it is neither built in nor served by a worker that has registered"
                    + tools.hint(step.tool()));
        } else {
            problems.addAll(tools.checkInput(step, at + "/input"));
        }
    }

    /** Results of tools without effects may be taken over, and of agents that call only such tools. */
    private void cache(TaskSpec task, String at) {
        Reuse reuse = task.policy().reuse();
        for (int i = 0; reuse != null && i < task.steps().size(); i++) {
            StepSpec step = task.steps().get(i);
            Reuse.Rule rule = reuse.steps().get(step.name());
            if (rule == null) {
                continue;
            }
            String here = Reuse.pointer(step, at, i);
            expression(rule.key(), here + "/key");
            AgentTerms terms = task.policy().agent();
            List<String> called = step.kind() != StepKind.TURN ? List.of(step.tool())
                    : terms == null ? List.of() : terms.tools();
            called.stream().filter(tool -> tools.effects(tool) != null && tools.effects(tool) != Effects.READ)
                    .forEach(tool -> report("CACHE_NOT_ALLOWED", here, "'" + displayText(tool) + "' has effects ("
                            + Objects.requireNonNull(tools.effects(tool)).wire()
                            + "): results of tools without effects only are taken over"));
            if (step.kind() != StepKind.TOOL && step.kind() != StepKind.TURN) {
                report("CACHE_NOT_ALLOWED", here, "a step of '" + displayText(step.tool())
                        + "' waits, asks or starts a run: results of tools only are taken over");
            }
            if (tools.opensSecrets(step)) {
                report("CACHE_NOT_ALLOWED", here,
                        "the input opens a secret: a result that depends on one is not taken over");
            }
        }
    }

    private void undo(List<StepSpec> calls, String at) {
        Set<String> names = new HashSet<>();
        for (int i = 0; i < calls.size(); i++) {
            if (!names.add(calls.get(i).name())) {
                report("DUPLICATE_NAME", at + "/" + i + "/name",
                        "the name '" + displayText(calls.get(i).name()) + "' is used twice in an undo");
            }
            call(calls.get(i), at + "/" + i);
        }
    }

    private void expression(@Nullable String text, String at) {
        if (text != null) {
            problems.addAll(tools.checkExpression(text, at));
        }
    }

    private void dependencies(PlanGraph graph) {
        for (int i = 0; i < plan.tasks().size(); i++) {
            TaskSpec task = plan.tasks().get(i);
            Set<String> seen = new HashSet<>();
            for (int d = 0; d < task.dependsOn().size(); d++) {
                String upstream = task.dependsOn().get(d).task();
                String at = "/plan/tasks/" + i + "/depends_on/" + d;
                if (!indexOf.containsKey(upstream)) {
                    report("DEPENDENCY_UNKNOWN", at,
                            "task '" + displayText(task.id()) + "' depends on '" + displayText(upstream)
                                    + "', which does not exist");
                } else if (!Objects.equals(loops.get(task.id()), loops.get(upstream))) {
                    report("DEPENDENCY_ACROSS_ROUNDS", at, "task '" + displayText(task.id()) + "' depends on '"
                            + displayText(upstream) + "', and only one of them is done in rounds of a group: "
                            + "the dependency belongs to the group");
                } else if (!seen.add(upstream)) {
                    report("DUPLICATE_NAME", at, "dependency '" + displayText(upstream) + "' is named twice");
                }
            }
        }
        graph.cycle().ifPresent(path -> {
            int first = indexOf.getOrDefault(path.getFirst(), 0);
            report("DEPENDENCY_CYCLE", "/plan/tasks/" + first + "/depends_on",
                    "tasks depend on each other in a circle: " + displayText(path));
        });
    }

    private void report(String code, String pointer, String message) {
        problems.add(new PlanProblem(code, pointer, message));
    }

    private static String displayText(List<String> path) {
        List<String> names = new ArrayList<>(path.stream().map(PlanCheck::displayText).toList());
        int left = names.size() - PATH_SHOWN;
        if (left > 0) {
            List<String> middle = names.subList(PATH_SHOWN / 2, PATH_SHOWN / 2 + left);
            middle.clear();
            middle.add("(" + left + " more)");
        }
        return String.join(" → ", names);
    }

    static String displayText(String name) {
        return name.length() <= 80 ? name : name.substring(0, 80) + "…";
    }
}
