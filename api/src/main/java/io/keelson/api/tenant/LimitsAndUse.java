package io.keelson.api.tenant;

import io.keelson.api.Shape.Id;

/**
 * Limits of a workspace and its use of them.
 *
 * @param workspaceId id of the workspace
 * @param limits its limits
 * @param use its use
 */
public record LimitsAndUse(@Id String workspaceId, WorkspaceLimits limits, WorkspaceUse use) {}
