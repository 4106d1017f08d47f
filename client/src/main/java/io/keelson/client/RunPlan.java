package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One version of a run's plan.
 *
 * @param version from 1
 * @param plan {@code tasks} and what else the document has
 * @param inForce true for the one by which the run goes, or went at its end
 * @param replacedAt when another took its place; null for the one in force
 */
public record RunPlan(int version, JsonNode plan, boolean inForce, @Nullable Instant replacedAt) {}
