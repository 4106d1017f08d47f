package io.keelson.server.mission.plan;

import io.keelson.core.plan.RosterAgent;
import io.keelson.core.plan.ToolKnowledge;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The surroundings of a mission: the tools, models and agents that it may name, and the defaults of its workspace.
 *
 * @param toolTimeout how long a call of a tool may take if its step has no timeout; also applied to unknown tools
 * @param roster the agents for tasks that are done in turns, read only if a plan has such tasks; null if unknown
 * @param autonomy the autonomy level of missions that specify none
 */
public record MissionContext(ToolKnowledge tools, Function<String, Duration> toolTimeout, ModelRules models,
        @Nullable Supplier<List<RosterAgent>> roster, Supplier<AutonomyDefault> autonomy) {

    /** A context without workspace: it refuses no model, and its roster is unknown. */
    public static MissionContext of(CatalogToolKnowledge tools) {
        return new MissionContext(tools, tools::timeout, ModelRules.UNKNOWN, null, () -> AutonomyDefault.PRODUCT);
    }

    /** The context of plans of templates, which a person approves unless a level says otherwise. */
    MissionContext ofTemplates() {
        return new MissionContext(tools, toolTimeout, models, roster, () -> autonomy.get().ofTemplates());
    }

    /** Whether the roster has the agent; true also for an unknown roster. */
    boolean hires(String agent) {
        return roster == null || roster.get().stream().anyMatch(each -> each.slug().equals(agent));
    }

    /** The agents of the roster; empty if it is unknown. */
    List<RosterAgent> agents() {
        return roster == null ? List.of() : roster.get();
    }
}
