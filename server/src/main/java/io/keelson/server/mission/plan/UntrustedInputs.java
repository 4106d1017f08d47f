package io.keelson.server.mission.plan;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.ToolKnowledge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Marks the tasks of a plan whose inputs may contain data from outside. Data come by an upstream, by an expression that
 * reads another task, and to a child run by the steps before its start.
 */
record UntrustedInputs(ToolKnowledge tools) {

    List<TaskSpec> marked(List<TaskSpec> tasks) {
        Map<String, List<String>> readers = new HashMap<>();
        Map<String, String> loops = new Plan(1, tasks).loops();
        for (TaskSpec task : tasks) {
            Stream.concat(sources(task, tasks), ofRounds(task, loops))
                    .forEach(source -> readers.computeIfAbsent(source, _ -> new ArrayList<>()).add(task.id()));
        }
        Set<String> reached = new HashSet<>();
        tasks.stream().filter(this::passesOn).map(TaskSpec::id).forEach(reached::add);
        Deque<String> open = new ArrayDeque<>(tasks.stream().filter(this::bringsIn).map(TaskSpec::id).toList());
        while (!open.isEmpty()) {
            readers.getOrDefault(open.remove(), List.of()).stream().filter(reached::add).forEach(open::add);
        }
        return reached.isEmpty() ? tasks
                : tasks.stream().map(task -> !reached.contains(task.id()) ? task
                        : task.with(task.policy().untrusted(true))).toList();
    }

    /** Whether the task's output may contain data from outside. */
    private boolean bringsIn(TaskSpec task) {
        AgentTerms terms = task.policy().agent();
        return task.policy().untrusted() || terms != null && !terms.openWorld().isEmpty()
                || task.steps().stream().anyMatch(step -> tools.openWorld(step.tool()));
    }

    /** Whether a step may pass such data to a child run that the task has got itself. */
    private boolean passesOn(TaskSpec task) {
        List<StepSpec> steps = task.steps();
        return !task.parallelSteps() && steps.stream().skip(1).anyMatch(step -> step.kind() == StepKind.RUN
                && steps.subList(0, steps.indexOf(step)).stream().anyMatch(each -> tools.openWorld(each.tool())));
    }

    /** Ids of the tasks whose outputs the task may read. */
    private Stream<String> sources(TaskSpec task, List<TaskSpec> tasks) {
        List<ToolKnowledge.Names> names = names(task).toList();
        return Stream.of(task.dependsOn().stream().filter(Dependency::data).map(Dependency::task),
                names.stream().flatMap(each -> each.tasks().stream()),
                names.stream().anyMatch(ToolKnowledge.Names::allTasks) ? tasks.stream().map(TaskSpec::id)
                        : Stream.<String>empty())
                .flatMap(each -> each).distinct();
    }

    /** A group has the outputs of its tasks. Each task may read the inputs of the group and the outputs of the round before. */
    private static Stream<String> ofRounds(TaskSpec task, Map<String, String> loops) {
        String loop = loops.get(task.id());
        return loop != null ? Stream.of(loop)
                : loops.entrySet().stream().filter(each -> each.getValue().equals(task.id())).map(Map.Entry::getKey);
    }

    /** The names in all expressions by which data come to the task. */
    private Stream<ToolKnowledge.Names> names(TaskSpec task) {
        return Stream.of(task.steps().stream().map(tools::namesInInput),
                task.policy().verify().stream().map(check -> tools.namesInTemplate(check.input())),
                Stream.ofNullable(task.forEach()).map(tools::namesInExpression),
                Stream.ofNullable(task.output()).map(tools::namesInTemplate)).flatMap(each -> each);
    }
}
