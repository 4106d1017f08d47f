package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.policy.Effects;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Forwards all questions to another knowledge of tools; subclasses change single answers. */
abstract class ForwardingToolKnowledge implements ToolKnowledge {
    private final ToolKnowledge tools;

    ForwardingToolKnowledge(ToolKnowledge tools) {
        this.tools = tools;
    }

    @Override
    public boolean knows(String tool) {
        return tools.knows(tool);
    }

    @Override
    public boolean openWorld(String tool) {
        return tools.openWorld(tool);
    }

    @Override
    public @Nullable Effects effects(String tool) {
        return tools.effects(tool);
    }

    @Override
    public boolean opensSecrets(StepSpec step) {
        return tools.opensSecrets(step);
    }

    @Override
    public ToolPolicy.Rule workspaceRule() {
        return tools.workspaceRule();
    }

    @Override
    public String hint(String tool) {
        return tools.hint(tool);
    }

    @Override
    public String hint(String name, Collection<String> known) {
        return tools.hint(name, known);
    }

    @Override
    public @Nullable String unusable(String tool) {
        return tools.unusable(tool);
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
        return tools.namesInExpression(expression);
    }

    @Override
    public Names namesInTemplate(String json) {
        return tools.namesInTemplate(json);
    }

    @Override
    public Names namesInInput(StepSpec step) {
        return tools.namesInInput(step);
    }
}
