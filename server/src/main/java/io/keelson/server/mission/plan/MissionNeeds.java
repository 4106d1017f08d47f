package io.keelson.server.mission.plan;

import io.keelson.core.plan.PlanProblem;
import io.keelson.core.plan.RosterAgent;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.server.engine.tool.ToolSpec;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Notes the changing state that the reading of a mission depends on. For one reading. */
final class MissionNeeds {
    private final Set<String> tools = new HashSet<>();
    private final Set<String> models = new HashSet<>();
    /** The roster, or the description of a tool that its server may change. */
    private boolean more;
    private ToolPolicy.@Nullable Rule rule;
    private @Nullable AutonomyDefault autonomy;

    /** Whether the reading depended on nothing but the document and {@link #areMet needs}. */
    boolean areAll() {
        return !more;
    }

    /** Whether there are all tools, the workspace's rules are the same, and no model is refused, now. */
    boolean areMet(MissionContext now) {
        return now.autonomy().get().equals(autonomy) && now.tools().workspaceRule().equals(rule)
                && tools.stream().allMatch(now.tools()::knows)
                && (models.isEmpty() || now.models().refused(models).isEmpty());
    }

    /** The context, whose changing state is noted when a reading asks for it. */
    MissionContext noting(MissionContext context) {
        Supplier<List<RosterAgent>> roster = context.roster();
        return new MissionContext(noting(context.tools()), context.toolTimeout(), noting(context.models()),
                roster == null ? null : () -> {
                    more = true;
                    return roster.get();
                }, () -> {
                    AutonomyDefault now = context.autonomy().get();
                    autonomy = now;
                    return now;
                });
    }

    private ModelRules noting(ModelRules rules) {
        return new ModelRules() {
            @Override
            public List<String> known() {
                return rules.known();
            }

            @Override
            public Map<String, Objection> refused(Set<String> asked) {
                models.addAll(asked);
                return rules.refused(asked);
            }

            @Override
            public boolean configured(String model) {
                return rules.configured(model);
            }

            @Override
            public @Nullable String family(String model) {
                return rules.family(model);
            }
        };
    }

    private ToolKnowledge noting(ToolKnowledge known) {
        return new ToolKnowledge() {
            @Override
            public boolean knows(String tool) {
                tools.add(tool);
                more |= tool.startsWith(ToolSpec.MCP);
                return known.knows(tool);
            }

            @Override
            public boolean openWorld(String tool) {
                return known.openWorld(tool);
            }

            @Override
            public ToolPolicy.Rule workspaceRule() {
                ToolPolicy.Rule now = known.workspaceRule();
                rule = now;
                return now;
            }

            @Override
            public String hint(String tool) {
                return known.hint(tool);
            }

            @Override
            public String hint(String name, Collection<String> names) {
                return known.hint(name, names);
            }

            @Override
            public List<PlanProblem> checkInput(StepSpec step, String pointer) {
                return known.checkInput(step, pointer);
            }

            @Override
            public List<PlanProblem> checkExpression(String expression, String pointer) {
                return known.checkExpression(expression, pointer);
            }

            @Override
            public List<PlanProblem> checkTemplate(String json, String pointer) {
                return known.checkTemplate(json, pointer);
            }

            @Override
            public Names namesInExpression(String expression) {
                return known.namesInExpression(expression);
            }

            @Override
            public Names namesInTemplate(String json) {
                return known.namesInTemplate(json);
            }

            @Override
            public Names namesInInput(StepSpec step) {
                return known.namesInInput(step);
            }
        };
    }
}
