package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of an inbox item.
 *
 * @param decision {@code accepted} or {@code rejected}
 * @param runId null for a {@code tool_change}, which is of no run
 * @param runState the state that the run is in now; null likewise
 */
public record InboxDecision(String id, String kind, String decision, @Nullable String runId,
        @Nullable String runState) {}
