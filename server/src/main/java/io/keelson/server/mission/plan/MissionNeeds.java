package io.keelson.server.mission.plan;

import io.keelson.core.plan.RosterAgent;
import io.keelson.core.plan.ToolKnowledge;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.server.engine.tool.ToolSpec;
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
        return new ForwardingToolKnowledge(known) {
            @Override
            public boolean knows(String tool) {
                tools.add(tool);
                more |= tool.startsWith(ToolSpec.MCP);
                return super.knows(tool);
            }

            @Override
            public ToolPolicy.Rule workspaceRule() {
                ToolPolicy.Rule now = super.workspaceRule();
                rule = now;
                return now;
            }
        };
    }
}
