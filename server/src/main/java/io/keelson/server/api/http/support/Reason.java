package io.keelson.server.api.http.support;

import org.jspecify.annotations.Nullable;

/** The body of actions that take only a reason; null if absent. */
public record Reason(@Nullable String reason) {}
