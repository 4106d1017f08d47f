package io.keelson.core.run;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A step as its holder received it; later changes do not affect it.
 *
 * @param input JSON text, expressions unresolved
 * @param leaseExpiresAt unless heartbeats extend it
 * @param deadline null when the holder has none
 * @param effectKey stable over reclaims and infrastructure retries of one logical step
 * @param previous the previous failure; null if absent
 * @param trace of its run
 * @param maxOutputTokens that the credits held for it pay; null when none are held
 * @param following steps that a worker may execute after it, in this order, before it reports; their leases begin with the reports
 *            of the steps before them
 */
public record StepAssignment(UUID runId, UUID taskId, UUID stepId, String tool, String input, int attempt,
        int leaseEpoch, Instant leaseExpiresAt, @Nullable Instant deadline, String effectKey,
        @Nullable PreviousFailure previous, RunTrace trace, @Nullable Long maxOutputTokens,
        List<StepAssignment> following) {

    public StepAssignment {
        following = List.copyOf(following);
    }

    /** A step that no other step follows. */
    public StepAssignment(UUID runId, UUID taskId, UUID stepId, String tool, String input, int attempt, int leaseEpoch,
            Instant leaseExpiresAt, @Nullable Instant deadline, String effectKey, @Nullable PreviousFailure previous,
            RunTrace trace, @Nullable Long maxOutputTokens) {
        this(runId, taskId, stepId, tool, input, attempt, leaseEpoch, leaseExpiresAt, deadline, effectKey, previous,
                trace, maxOutputTokens, List.of());
    }

    /** A copy with the first of the following steps. */
    public StepAssignment withFollowing(List<StepAssignment> first) {
        return new StepAssignment(runId, taskId, stepId, tool, input, attempt, leaseEpoch, leaseExpiresAt, deadline,
                effectKey, previous, trace, maxOutputTokens, first);
    }

    /**
     * The key of the logical step's effect, not of its row: a retry that carries work over must reach the same effect.
     * The first generation of a task is not part of the text.
     *
     * @param effect see {@link io.keelson.core.decide.StepRow#effect}
     */
    public static String effectKey(UUID run, int ofRun, int ofTask, String task, String effect) {
        return run + "/" + ofRun + (ofTask == 1 ? "" : "." + ofTask) + "/" + task + "/" + effect;
    }
}
