package io.keelson.client;

import io.keelson.api.tenant.ApiKey;

/** The key of a connection, and its workspace. */
public record WhoAmI(Workspace workspace, ApiKey key) {

    /** As people call it. */
    public record Workspace(String id, String name) {}
}
