package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.plan.ToolPolicy;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** As the tools say, but for the names of tasks that have completed: any expression may name those. */
record CompletedTaskNames(ToolKnowledge tools, Set<String> completed) implements ToolKnowledge {

    @Override
    public boolean knows(String tool) {
        return tools.knows(tool);
    }

    @Override
    public ToolPolicy.Rule workspaceRule() {
        return tools.workspaceRule();
    }

    @Override
    public String hint(String name, Collection<String> known) {
        return tools.hint(name, known);
    }

    @Override
    public List<PlanProblem> checkInput(StepSpec step, String pointer) {
        return tools.checkInput(step, pointer);
    }

    @Override
    public List<PlanProblem> checkExpression(String expression, String pointer) {
        return tools.checkExpression(expression, pointer);
    }

    @Override
    public List<PlanProblem> checkTemplate(String json, String pointer) {
        return tools.checkTemplate(json, pointer);
    }

    @Override
    public Names namesInExpression(String expression) {
        return others(tools.namesInExpression(expression));
    }

    @Override
    public Names namesInTemplate(String json) {
        return others(tools.namesInTemplate(json));
    }

    private Names others(Names names) {
        return new Names(names.tasks().stream().filter(task -> !completed.contains(task)).toList(), names.allTasks(),
                names.steps(), names.inputs(), names.roots());
    }
}
