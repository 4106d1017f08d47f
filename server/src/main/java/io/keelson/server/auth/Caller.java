package io.keelson.server.auth;

import java.util.UUID;

/**
 * Whoever holds an API key.
 *
 * @param keyId the key's id; what events record as the actor
 * @param workspaceId the one workspace that the key opens
 */
public record Caller(UUID keyId, UUID workspaceId) {}
