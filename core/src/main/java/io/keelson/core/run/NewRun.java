package io.keelson.core.run;

import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
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
 */
public record NewRun(UUID id, UUID workspaceId, String name, @Nullable String description, String goal, Plan plan,
        String planJson, String configJson, RunPolicy policy, String inputsJson, String tagsJson,
        @Nullable String outputTemplate, int priority, String trigger, @Nullable String agentSlug,
        @Nullable String externalId, String createdBy) {}
