package io.keelson.client;

/** Limits of a workspace, and its use. */
public record LimitsAndUse(String workspaceId, WorkspaceLimits limits, WorkspaceUse use) {}
