package io.keelson.api.run;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A command to many runs, as far as it has come. JSON components are never Java null: an absent member is a JSON null.
 *
 * @param id a UUID, also with the prefix of its kind
 * @param workspaceId a UUID, also with the prefix of its kind
 * @param action command that each run receives
 * @param state state of the job
 * @param filter runs that match all of its members; at least one member
 * @param matches how many runs there were for it when it was made
 * @param matchesAtLeast the count stopped at its maximum; there may have been more
 * @param changed runs that were changed
 * @param unchanged runs that were already in the target state
 * @param refused number of runs that rejected the command, by error code
 * @param reason reason that was given; null if absent
 * @param from starting point of a retry; null for other actions
 * @param perSecond maximum number of commands per second
 * @param waitsFor the error code that delays it, such as OPEN_RUNS_LIMIT_REACHED
 * @param actorType kind of the actor
 * @param actorId id of the actor
 * @param createdAt time of its creation
 * @param endedAt time of its end; null before it
 */
public record BulkJob(@Id String id, @Id String workspaceId,
        @OneOf({
                "cancel", "retry", "pause", "resume", "delete"}) String action,
        @OneOf({"running", "completed", "stopped"}) String state, @Ref("RunFilter") JsonNode filter, long matches,
        boolean matchesAtLeast, long changed, long unchanged, Map<String, Integer> refused, @Nullable String reason,
        @Nullable @OneOf({"failed", "start"}) String from, int perSecond, @Nullable String waitsFor,
        String actorType, @Nullable String actorId, Instant createdAt, @Nullable Instant endedAt) {

    public BulkJob {
        filter = Absent.asNull(filter);
        refused = Absent.asEmpty(refused);
    }

    /** Whether the job has completed or was stopped. */
    public boolean ended() {
        return !state.equals("running");
    }

    /**
     * Cancels, pauses, resumes or deletes all runs that match a filter.
     *
     * @param filter the runs
     * @param dryRun whether only the number of matching runs is returned
     * @param reason stored with the decision
     * @param perSecond runs per second
     */
    @Request
    public record Change(@Size(min = 1) RunFilter filter, @Default("false") boolean dryRun,
            @Nullable @Text(max = 2000) String reason, @Default("100") @Range(min = 1, max = 1000) int perSecond) {}

    /**
     * Starts the next attempt of all runs that match a filter.
     *
     * @param filter the runs
     * @param dryRun whether only the number of matching runs is returned
     * @param from {@code failed} keeps completed tasks, {@code start} begins again
     * @param perSecond runs per second; a high rate can repeat the cause of many failures
     */
    @Request
    public record Retry(@Size(min = 1) RunFilter filter, @Default("false") boolean dryRun,
            @Default("failed") @OneOf({"failed", "start"}) String from,
            @Default("10") @Range(min = 1, max = 1000) int perSecond) {}

    /**
     * The number of runs that a job would change.
     *
     * @param dryRun always true
     * @param action action of the job
     * @param matches number of matching runs
     * @param matchesAtLeast the count stops at its maximum; there may be more
     */
    public record Matches(boolean dryRun, @OneOf({"cancel", "retry", "pause", "resume", "delete"}) String action,
            long matches, boolean matchesAtLeast) {}
}
