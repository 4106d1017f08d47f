package io.keelson.server.annex.model;

/**
 * The result of a call.
 *
 * @param callId of the {@link Call}
 * @param name of the tool
 * @param isError whether the call failed
 */
public record CallResult(String callId, String name, String text, boolean isError) {}
