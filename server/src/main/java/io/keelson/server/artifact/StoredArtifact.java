package io.keelson.server.artifact;

/**
 * An artifact whose bytes are durable.
 *
 * @param name as people see it; unique only within the execution that stored it, and no path
 * @param contentType media type, never blank
 * @param sha256 64 lower-case hex digits over the bytes
 * @param storageKey where the store keeps it; opaque to everyone else
 */
public record StoredArtifact(String name, String contentType, long sizeBytes, String sha256, String storageKey) {}
