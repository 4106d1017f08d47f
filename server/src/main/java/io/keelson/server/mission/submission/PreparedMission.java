package io.keelson.server.mission.submission;

import io.keelson.server.mission.plan.CheckedMission;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A valid mission, ready to be submitted.
 *
 * @param origin the recipe and version it was made from; null if absent
 */
public record PreparedMission(CheckedMission mission, @Nullable ObjectNode origin) {}
