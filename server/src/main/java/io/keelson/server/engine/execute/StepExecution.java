package io.keelson.server.engine.execute;

import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.StepRow;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.run.RunTrace;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a step under one lease: the executor's data, taken from the view at commit.
 *
 * @param name of the step in its task
 * @param input JSON text, expressions unresolved
 * @param effectKey stable over reclaims and infrastructure retries of one logical step
 * @param model that takes the turn instead of the input's; null for the input's, and for other steps
 * @param deferred how long busy systems have deferred this attempt
 * @param atMostOnce true when a call that was interrupted is not repeated
 */
public record StepExecution(UUID workspaceId, UUID runId, String runName, UUID taskId, int lane, UUID stepId,
        String name, String tool, String input, @Nullable String model, int attempt, Duration deferred, int leaseEpoch,
        Duration timeout, String effectKey, @Nullable String holder, RunTrace trace, boolean atMostOnce) {

    public static StepExecution of(RunRow run, StepRow step, Instant now) {
        Instant since = step.deferredSince();
        return new StepExecution(run.workspaceId(), run.id(), run.name(), step.task().id(), step.lane(), step.id(),
                step.spec().name(), step.spec().tool(), step.spec().input(),
                step.spec().tool().equals(RunsOn.SERVER.tool()) ? run.turnModel() : null, step.attempt(),
                since == null ? Duration.ZERO : Duration.between(since, now), step.leaseEpoch(), step.spec().timeout(),
                step.effectKey(run), step.holder(), run.trace(), step.atMostOnce());
    }

    /** The first execution of a step that was not claimed yet, as its claim by this holder will give it. */
    public static StepExecution unclaimed(RunRow run, StepRow step, String holder) {
        return new StepExecution(run.workspaceId(), run.id(), run.name(), step.task().id(), step.lane(), step.id(),
                step.spec().name(), step.spec().tool(), step.spec().input(), null, step.attempt() + 1, Duration.ZERO,
                step.leaseEpoch() + 1, step.spec().timeout(), step.effectKey(run), holder, run.trace(), false);
    }

    /** The first execution of a step that was not claimed yet, in the lane of this one. */
    public StepExecution followedBy(RunRow run, StepRow step) {
        return new StepExecution(workspaceId, runId, runName, taskId, lane, step.id(), step.spec().name(),
                step.spec().tool(),
                step.spec().input(), null, step.attempt() + 1, Duration.ZERO, step.leaseEpoch() + 1,
                step.spec().timeout(), step.effectKey(run), holder, trace, step.atMostOnce());
    }

    boolean sameLease(StepExecution other) {
        return stepId.equals(other.stepId) && leaseEpoch == other.leaseEpoch && attempt == other.attempt;
    }
}
