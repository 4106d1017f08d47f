package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * One thing wrong with what was sent.
 *
 * @param code stable, UPPER_SNAKE
 * @param pointer JSON pointer (RFC 6901) to the place in the request's body; null when it has no place
 * @param message what is wrong and what would be right, for people
 */
public record Problem(@Nullable String code, @Nullable String pointer, @Nullable String message) {}
