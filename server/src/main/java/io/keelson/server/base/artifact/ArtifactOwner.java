package io.keelson.server.base.artifact;

import java.util.UUID;

/**
 * The step execution an artifact belongs to.
 *
 * @param attempt of the step, from 1
 * @param leaseEpoch the fence of the execution: a late worker's files never stand under the key of its successor's
 */
public record ArtifactOwner(UUID workspaceId, UUID runId, UUID stepId, int attempt, int leaseEpoch) {}
