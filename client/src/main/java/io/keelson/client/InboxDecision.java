package io.keelson.client;

/**
 * The outcome of an inbox item.
 *
 * @param decision {@code accepted} or {@code rejected}
 * @param runState the state that the run is in now
 */
public record InboxDecision(String id, String kind, String decision, String runId, String runState) {}
