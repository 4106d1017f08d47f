package io.keelson.server.mission.plan;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.TraceParent;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The content of a mission file or of the body of {@code POST /runs}, checked and ready to become a run.
 *
 * @param name for people; 1 to 200 characters
 * @param goal the goal in the caller's words
 * @param description more about it; null if absent
 * @param plan as the core runs it
 * @param planJson the same plan as stored in the run's {@code plan} column; reading it again gives it again
 * @param config as given, with the workspace's autonomy level if it names none; empty if absent
 * @param autonomySource where the autonomy level of {@code policy} is from
 * @param policy the config's rules for the core
 * @param declarations the declared inputs by name, each a JSON Schema
 * @param input the inputs' values with defaults applied: the value of {@code .inputs} in expressions
 * @param priority lower goes first
 * @param agentSlug the agent that asks for the run; null when none does
 * @param trigger what caused the run, such as {@code manual} or {@code cron}; null when the caller did not say
 * @param externalId the caller's own id; null when none was given
 * @param externalIdPolicy handling of the mission when another run has that id
 * @param start whether the run starts at once, instead of being only created
 * @param startAt when it starts by itself; null when the caller did not say
 * @param output JSON text with expressions that makes the run's output; null if absent
 */
public record CheckedMission(String name, String goal, @Nullable String description, Plan plan, ObjectNode planJson,
        ObjectNode config, AutonomyDefault.Source autonomySource, RunPolicy policy, ObjectNode declarations,
        ObjectNode input, int priority,
        @Nullable String agentSlug, @Nullable String trigger, List<String> tags, @Nullable String externalId,
        ExternalIdPolicy externalIdPolicy, boolean start, @Nullable Instant startAt,
        @Nullable String output) {

    private static final Set<String> SCHEDULED = Set.of("cron", "backfill", "webhook", "event");

    public CheckedMission {
        tags = List.copyOf(tags);
    }

    /**
     * The run to accept.
     *
     * @param createdBy who asks
     */
    public NewRun newRun(UUID id, UUID workspaceId, String createdBy) {
        return newRun(id, workspaceId, createdBy, null, null, null);
    }

    /**
     * @param fork results reused from another run; null if absent
     * @param origin the recipe or schedule that creates it; null if absent
     * @param trace the caller's trace context; null if absent
     */
    public NewRun newRun(UUID id, UUID workspaceId, String createdBy, NewRun.@Nullable Fork fork,
            @Nullable ObjectNode origin, @Nullable TraceParent trace) {
        ObjectNode from = origin == null ? JsonNodeFactory.instance.objectNode() : origin.deepCopy();
        if (trace != null) {
            from.put("traceparent", trace.text());
        }
        ArrayNode tagged = JsonNodeFactory.instance.arrayNode();
        tags.forEach(tagged::add);
        return new NewRun(id, workspaceId, name, description, goal, plan, planJson.toString(), config.toString(),
                attended(), input.toString(), tagged.toString(), output, priority, trigger == null ? "api" : trigger,
                agentSlug, externalId, externalIdPolicy == ExternalIdPolicy.AFTER_END, createdBy, fork, startAt,
                new NewRun.Origin(declarations.isEmpty() ? null : declarations.toString(),
                        from.isEmpty() ? null : from.toString(), trace));
    }

    /** A run that a schedule or trigger starts is unattended: a burst of errors holds it only where its configuration says so. */
    private RunPolicy attended() {
        boolean alone = trigger != null && SCHEDULED.contains(trigger) && !config.has("escalation");
        return alone ? policy.with(policy.failures().with(EscalationPolicy.OFF)) : policy;
    }
}
