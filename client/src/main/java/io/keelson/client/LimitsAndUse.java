package io.keelson.client;

/** What a workspace may have at most, and what it has. */
public record LimitsAndUse(String workspaceId, WorkspaceLimits limits, WorkspaceUse use) {}
