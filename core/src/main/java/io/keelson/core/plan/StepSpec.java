package io.keelson.core.plan;

import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;

/**
 * A step as the plan describes it.
 *
 * @param name unique within its task
 * @param tool the tool's name; that of {@link RunsOn} for turns, {@code approval} for approvals
 * @param input JSON text; strings in it may hold {@code ${ }} expressions
 * @param timeout how long one execution may take
 */
public record StepSpec(String name, StepKind kind, String tool, String input, RetryPolicy retry, Duration timeout) {}
