package io.keelson.server.mission.plan;

import io.keelson.core.plan.Autonomy;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The autonomy level of missions without a level.
 *
 * @param level null: a plan that is given counts as approved, and a person approves a planner's plan
 */
public record AutonomyDefault(@Nullable Autonomy level, Source source) {

    /** The default of the product. */
    public static final AutonomyDefault PRODUCT = new AutonomyDefault(null, Source.PRODUCT);

    private static final String AUTONOMY = "autonomy";
    private static final String LEVEL = "level";

    /** The origin of a mission's autonomy level. */
    public enum Source {
        /** The mission, or the recipe that it is made of. */
        MISSION,
        /** The default of the workspace, which an operator sets. */
        WORKSPACE, PRODUCT;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }
    }

    /** A mission's config with its autonomy level, if it has one, and the level's source. */
    record Applied(ObjectNode config, Source source) {}

    /** @param level null where the workspace has no default */
    public static AutonomyDefault ofWorkspace(@Nullable Autonomy level) {
        return level == null ? PRODUCT : new AutonomyDefault(level, Source.WORKSPACE);
    }

    /** The default for plans that the caller did not give: of templates. */
    AutonomyDefault ofTemplates() {
        return level == null ? new AutonomyDefault(Autonomy.APPROVE, source) : this;
    }

    /** @param config not changed; another check reports values that are not objects */
    Applied to(ObjectNode config) {
        JsonNode autonomy = config.path(AUTONOMY);
        if (autonomy.has(LEVEL)) {
            return new Applied(config, Source.MISSION);
        }
        if (level == null || !autonomy.isObject() && !autonomy.isMissingNode()) {
            return new Applied(config, source);
        }
        ObjectNode settled = config.deepCopy();
        settled.withObjectProperty(AUTONOMY).put(LEVEL, level.wire());
        return new Applied(settled, source);
    }
}
