package io.keelson.api.work;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Steps of a tool that are ready or leased.
 *
 * @param tool name of the tool
 * @param waiting steps that no worker has claimed
 * @param leased steps that a worker holds
 * @param oldestAt since when the oldest of the waiting steps is ready; null without one
 */
public record QueuedTool(String tool, int waiting, int leased, @Nullable Instant oldestAt) {}
