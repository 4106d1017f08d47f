package io.keelson.core.run;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A step as it was when its holder got it, whatever becomes of it later.
 *
 * @param input JSON text, expressions unresolved
 * @param leaseExpiresAt unless heartbeats extend it
 * @param deadline null when the holder has none
 * @param effectKey stable over reclaims and infrastructure retries of one logical step
 * @param previous what went wrong before; null for nothing
 * @param trace of its run
 */
public record StepAssignment(UUID runId, UUID taskId, UUID stepId, String tool, String input, int attempt,
        int leaseEpoch,
        Instant leaseExpiresAt, @Nullable Instant deadline, String effectKey,
        @Nullable PreviousFailure previous, RunTrace trace) {

    /**
     * Names the logical step, not its row: a retry of the run that carries work over must reach the same effect. The
     * first generation of a task is not written, so that keys from before there were generations stay what they were.
     */
    public static String effectKey(UUID run, int ofRun, int ofTask, String task, String step) {
        return run + "/" + ofRun + (ofTask == 1 ? "" : "." + ofTask) + "/" + task + "/" + step;
    }
}
