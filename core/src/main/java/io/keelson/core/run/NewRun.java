package io.keelson.core.run;

import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run as submitted, its plan already checked.
 *
 * @param goal the client's own words, never changed
 * @param planJson the plan's document as stored
 * @param configJson the configuration as given
 * @param inputsJson the resolved inputs, JSON object text
 * @param tagsJson JSON text
 * @param outputTemplate JSON text with expressions that makes the run's output; null if absent
 * @param priority lower is dispatched first
 * @param takesExternalIdOver true when it takes over the external id of an ended run
 * @param fork results reused from another run; null if absent
 * @param startAt when it starts by itself; null to start on request
 * @param origin further facts for readers; no decision depends on it
 */
public record NewRun(UUID id, UUID workspaceId, String name, @Nullable String description, String goal, Plan plan,
        String planJson, String configJson, RunPolicy policy, String inputsJson, String tagsJson,
        @Nullable String outputTemplate, int priority, String trigger, @Nullable String agentSlug,
        @Nullable String externalId, boolean takesExternalIdOver, String createdBy,
        @Nullable Fork fork, @Nullable Instant startAt, Origin origin) {

    /**
     * The parts that a fork takes over from another run; a fork begins when it is created.
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
     *
     * Where a run comes from.
     *
     * @param declarationsJson the inputs that its mission declares, JSON object text; null if absent
     * @param originJson the recipe or schedule that it was made from and the text of {@code trace}, JSON object text;
     *                   null if absent
     * @param trace position in the caller's trace; null where the caller gave none
     */
    public record Origin(@Nullable String declarationsJson, @Nullable String originJson, @Nullable TraceParent trace) {
        public static final Origin NONE = new Origin(null, null, null);
    }

    /** A run that starts on request. */
    public NewRun(UUID id, UUID workspaceId, String name, @Nullable String description, String goal, Plan plan,
            String planJson, String configJson, RunPolicy policy, String inputsJson, String tagsJson,
            @Nullable String outputTemplate, int priority, String trigger, @Nullable String agentSlug,
            @Nullable String externalId, boolean takesExternalIdOver, String createdBy, @Nullable Fork fork) {
        this(id, workspaceId, name, description, goal, plan, planJson, configJson, policy, inputsJson, tagsJson,
                outputTemplate, priority, trigger, agentSlug, externalId, takesExternalIdOver, createdBy, fork, null,
                Origin.NONE);
    }

    /** A copy with a start time. */
    public NewRun startingAt(Instant when) {
        return new NewRun(id, workspaceId, name, description, goal, plan, planJson, configJson, policy, inputsJson,
                tagsJson, outputTemplate, priority, trigger, agentSlug, externalId, takesExternalIdOver, createdBy,
                fork, when, origin);
    }

    /** A run that is not a fork. */
    public NewRun(UUID id, UUID workspaceId, String name, @Nullable String description, String goal, Plan plan,
            String planJson, String configJson, RunPolicy policy, String inputsJson, String tagsJson,
            @Nullable String outputTemplate, int priority, String trigger, @Nullable String agentSlug,
            @Nullable String externalId, String createdBy) {
        this(id, workspaceId, name, description, goal, plan, planJson, configJson, policy, inputsJson, tagsJson,
                outputTemplate, priority, trigger, agentSlug, externalId, false, createdBy, null);
    }

    /**
     * A copy whose rules on approvals are at least so strict.
     *
     * @param people who have to approve each question
     * @param others true when the submitter of the run does not approve
     */
    public NewRun approvedBy(int people, boolean others) {
        HumanRules rules = policy.humans().atLeast(people, others);
        return rules.equals(policy.humans()) ? this
                : new NewRun(id, workspaceId, name, description, goal, plan, planJson, configJson,
                        policy.with(rules), inputsJson, tagsJson, outputTemplate, priority,
                        trigger, agentSlug, externalId, takesExternalIdOver, createdBy, fork, startAt, origin);
    }
}
