package io.keelson.core.run;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run as it was submitted, its plan already checked.
 *
 * @param goal the client's own words, never changed
 * @param planJson the plan's document as stored
 * @param configJson the configuration as given
 * @param inputsJson the resolved inputs, JSON object text
 * @param tagsJson JSON text
 * @param outputTemplate JSON text with expressions that makes the run's output; null for none
 * @param priority lower is dispatched first
 * @param takesExternalIdOver true when a run that has ended gives the external id up to this one
 * @param fork what it takes over from another run; null for a run of its own
 * @param startAt when it starts by itself; null for when it is told to
 * @param origin what stands beside it for readers; nothing is decided by it
 */
public record NewRun(UUID id, UUID workspaceId, String name, @Nullable String description, String goal, Plan plan,
        String planJson, String configJson, RunPolicy policy, String inputsJson, String tagsJson,
        @Nullable String outputTemplate, int priority, String trigger, @Nullable String agentSlug,
        @Nullable String externalId, boolean takesExternalIdOver, String createdBy,
        @Nullable Fork fork, @Nullable Instant startAt, Origin origin) {

    /**
     * What a run takes over from another one; such a run begins when it is made.
     *
     * @param task the task from which it differs, by its id in the plan
     * @param carried by key, the tasks whose outputs it takes over, each with the task that holds the output
     */
    public record Fork(UUID run, String task, Map<String, UUID> carried) {
        public Fork {
            carried = Map.copyOf(carried);
        }
    }

    /**
     * Where a run comes from.
     *
     * @param declarationsJson the inputs that its mission declares, JSON object text; null for none
     * @param originJson the recipe or schedule that it was made of and the text of {@code trace}, JSON object text; null
     *     for none of it
     * @param trace where whoever asked for it was in a trace of theirs; null where they did not say
     */
    public record Origin(@Nullable String declarationsJson, @Nullable String originJson, @Nullable TraceParent trace) {
        public static final Origin NONE = new Origin(null, null, null);
    }

    /** A run that starts when it is told to. */
    public NewRun(UUID id, UUID workspaceId, String name, @Nullable String description, String goal, Plan plan,
            String planJson, String configJson, RunPolicy policy, String inputsJson, String tagsJson,
            @Nullable String outputTemplate, int priority, String trigger, @Nullable String agentSlug,
            @Nullable String externalId, boolean takesExternalIdOver, String createdBy, @Nullable Fork fork) {
        this(id, workspaceId, name, description, goal, plan, planJson, configJson, policy, inputsJson, tagsJson,
                outputTemplate, priority, trigger, agentSlug, externalId, takesExternalIdOver, createdBy, fork, null,
                Origin.NONE);
    }

    /** The same, to start by itself then. */
    public NewRun startingAt(Instant when) {
        return new NewRun(id, workspaceId, name, description, goal, plan, planJson, configJson, policy, inputsJson,
                tagsJson, outputTemplate, priority, trigger, agentSlug, externalId, takesExternalIdOver, createdBy,
                fork,
                when, origin);
    }

    /** A run of its own. */
    public NewRun(UUID id, UUID workspaceId, String name, @Nullable String description, String goal, Plan plan,
            String planJson, String configJson, RunPolicy policy, String inputsJson, String tagsJson,
            @Nullable String outputTemplate, int priority, String trigger, @Nullable String agentSlug,
            @Nullable String externalId, String createdBy) {
        this(id, workspaceId, name, description, goal, plan, planJson, configJson, policy, inputsJson, tagsJson,
                outputTemplate, priority, trigger, agentSlug, externalId, false, createdBy, null);
    }
}
