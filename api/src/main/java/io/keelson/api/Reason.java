package io.keelson.api;

import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import org.jspecify.annotations.Nullable;

/**
 * The reason of a decision.
 *
 * @param reason stored with the decision
 */
@Request
public record Reason(@Nullable @Text(max = 2000) String reason) {}
