package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * A problem of a request.
 *
 * @param code stable, UPPER_SNAKE
 * @param pointer JSON pointer (RFC 6901) to the place in the request's body; null when it has no place
 * @param message the problem and its fix, as text for people
 */
public record Problem(@Nullable String code, @Nullable String pointer, @Nullable String message) {}
