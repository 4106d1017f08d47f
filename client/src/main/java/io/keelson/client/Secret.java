package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A value that plans use with {@code ${ secret("name") }}; the API never returns it.
 *
 * @param version 1 when it was set for the first time; rises with each new value
 * @param updatedBy who set the present value; null when unknown
 */
public record Secret(String name, int version, Instant createdAt, Instant updatedAt, @Nullable String updatedBy) {}
