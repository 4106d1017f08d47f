package io.keelson.api.tenant;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;

/**
 * Rotates an API key.
 *
 * @param overlapSeconds how long the old key still works
 */
@Request
public record KeyRotation(@Default("86400") @Range(min = 0, max = 2_592_000) long overlapSeconds) {}
