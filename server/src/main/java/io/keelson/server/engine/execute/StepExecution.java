package io.keelson.server.engine.execute;

import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.StepRow;
import io.keelson.core.run.RunTrace;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a step under one lease: what an executor needs to know, taken from the view at commit.
 *
 * @param input JSON text, expressions unresolved
 * @param effectKey stable over reclaims and infrastructure retries of one logical step
 * @param atMostOnce true when a call that was interrupted is not repeated
 */
public record StepExecution(UUID workspaceId, UUID runId, String runName, UUID taskId, int lane, UUID stepId,
        String tool,
        String input, int attempt, int leaseEpoch, Duration timeout, String effectKey, @Nullable String holder,
        RunTrace trace, boolean atMostOnce) {

    public static StepExecution of(RunRow run, StepRow step) {
        return new StepExecution(run.workspaceId(), run.id(), run.name(), step.task().id(), step.lane(), step.id(),
                step.spec().tool(), step.spec().input(), step.attempt(), step.leaseEpoch(), step.spec().timeout(),
                step.effectKey(run), step.holder(), run.trace(), step.atMostOnce());
    }
}
