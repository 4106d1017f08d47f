package io.keelson.core.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kind of work of a task. Plans choose among {@link #ofPlans()}; the rest are the engine's own. */
public enum TaskType {
    RESEARCH, ANALYSIS, WRITING, CODING, VERIFICATION, REVIEW, SYNTHESIS, OTHER,
    /** A planner's work. */
    PLANNING,
    /** The hook before the run's first task. */
    HOOK_BEFORE,
    /** The hook after the run's last task. */
    HOOK_AFTER;

    private final String wire = name().toLowerCase(Locale.ROOT);

    /** The name in JSON and in the database, for example {@code research}. */
    public String wire() {
        return wire;
    }

    /** The type of that {@link #wire()} name; {@link #OTHER} if unknown. */
    public static TaskType of(String wire) {
        return Arrays.stream(values()).filter(type -> type.wire.equals(wire)).findFirst().orElse(OTHER);
    }

    /** The role whose preferred model does such a task, as in {@code config.model_preferences}; null for no role. */
    public @Nullable String role() {
        return switch (this) {
            case RESEARCH, ANALYSIS -> "researcher";
            case WRITING, CODING, SYNTHESIS -> "writer";
            case REVIEW -> "reviewer";
            case VERIFICATION -> "verifier";
            case OTHER, PLANNING, HOOK_BEFORE, HOOK_AFTER -> null;
        };
    }

    /** The types that plans may use. */
    public static List<TaskType> ofPlans() {
        return List.of(RESEARCH, ANALYSIS, WRITING, CODING, VERIFICATION, REVIEW, SYNTHESIS, OTHER);
    }
}
