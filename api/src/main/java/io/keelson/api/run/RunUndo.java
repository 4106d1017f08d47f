package io.keelson.api.run;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The undo of an ended run, which is a run of its own. The counts are zero until that run ends.
 *
 * @param state {@code requested} before that run exists, {@code running} until it ends, {@code undone} if all of its tasks are
 *     undone or dealt with by a person, {@code partly_undone} if some are not, {@code failed} or {@code cancelled} as that run,
 *     {@code nothing} if no work of the run has an undo, {@code refused} if that run could not be created
 * @param runId the run that undoes; null before it exists
 * @param tasks number of its tasks
 * @param undone tasks that completed
 * @param byHand tasks that a person has done by other means
 * @param notDone tasks whose original was not done, by a person's answer
 * @param notUndone all other tasks
 * @param waitsForHumans decisions of that run that only people can take and that are due now, without decisions about child runs
 * @param requestedBy the principal that requested it; {@code system} if the run's configuration did
 * @param reason reason of the request; null if absent
 * @param requestedAt time of the request
 * @param errorCode why it was refused; null if absent
 * @param errorMessage text of the refusal; null if absent
 */
public record RunUndo(@OneOf({"requested", "running", "undone", "partly_undone", "failed", "cancelled", "nothing",
        "refused"}) String state, @Nullable @Id String runId, @Range(min = 0) int tasks, @Range(min = 0) int undone,
        @Range(min = 0) int byHand, @Range(min = 0) int notDone, @Range(min = 0) int notUndone,
        @Range(min = 0) int waitsForHumans, String requestedBy,
        @Nullable String reason, Instant requestedAt, @Nullable String errorCode, @Nullable String errorMessage) {}
