package io.keelson.api.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Omittable;
import io.keelson.api.Shape.OneOf;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A schedule, which makes runs of a recipe or of a mission at the times of a cron expression.
 *
 * @param id id of the resource
 * @param workspaceId id of its workspace
 * @param name name, unique in the workspace
 * @param recipeId id of the recipe; null for a mission
 * @param inputs values of inputs, by name; in lists null if they are longer than 16,384 bytes
 * @param omitted in lists, the members whose values were omitted; the read of a single schedule returns them
 * @param mission the mission in the shape of a mission file; null for a recipe, absent in lists
 * @param cron cron expression
 * @param timeZone time zone of the cron expression
 * @param overlap policy for a time at which a run of the schedule is open
 * @param catchUp policy for times that were missed without a server
 * @param catchUpWindowSeconds maximum age of a missed time that is caught up, in seconds
 * @param jitterSeconds maximum delay of a run after its time, in seconds
 * @param endAt last possible time; null if absent
 * @param maxRuns maximum number of runs; null if absent
 * @param paused whether no time is due
 * @param nextRunAt next time; null when it is paused or over
 * @param runsMade number of runs for times of its own, without triggered and backfilled runs
 * @param timesMissed number of times within the window that made no run
 * @param version number of the version, from 1
 * @param createdBy name of the principal that created it
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 */
public record Schedule(@Id String id, @Id String workspaceId, String name, @Nullable @Id String recipeId,
        @Nullable ObjectNode inputs,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<@OneOf("inputs") String> omitted,
        @Omittable @Nullable ObjectNode mission, String cron, String timeZone,
        @OneOf({"allow", "skip", "queue", "cancel_running"}) String overlap,
        @OneOf({"skip", "latest", "all"}) String catchUp, long catchUpWindowSeconds, long jitterSeconds,
        @Nullable Instant endAt, @Nullable Integer maxRuns, boolean paused, @Nullable Instant nextRunAt, int runsMade,
        int timesMissed, int version, String createdBy, Instant createdAt, Instant updatedAt) {}
