package io.keelson.api.run;

import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Types;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One version of a run's plan.
 *
 * @param version number of the plan, from 1
 * @param plan the plan as the run executes it, with its defaults and its {@code version}
 * @param inForce whether it is the current plan
 * @param replacedAt null for the current plan
 */
public record RunPlan(@Range(min = 1) int version, @Types("object") JsonNode plan, boolean inForce,
        @Nullable Instant replacedAt) {}
