package io.keelson.api.run;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Closed;
import io.keelson.api.Shape.OneOf;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The status document of a run.
 *
 * @param runId id of the run, with the prefix {@code run_}
 * @param agentSlug agent of tasks without {@code suggested_agent}
 * @param status state in the names of the contract {@code lifecycle}
 * @param trigger source of the run, such as {@code manual} or {@code cron}
 * @param startedAt time of its start; null before it
 * @param finishedAt finished at
 * @param currentStep name of the step that is executed; null without one
 * @param stepsTotal number of steps
 * @param stepsCompleted number of completed steps
 * @param proposalsCreated ids of proposals of all attempts
 * @param error {@code CODE: message}. The code of a failed run is the run lifecycle contract's: NLM_UNAVAILABLE,
 *     UPSTREAM_UNAVAILABLE, AGENT_TIMEOUT or INTERNAL_ERROR (its retries are exhausted), see {@code errors} of {@code
 *     GET /api/v1/lifecycles/lifecycle}. An error that none of them covers keeps the run's own {@code error_code}. Of a
 *     run that is completed although parts failed, it is {@code COMPLETED_WITH_FAILURES:} and how many.
 */
@Closed
public record RunStatus(String runId, @Nullable String agentSlug,
        @OneOf({
                "requested", "queued", "running", "completed", "failed"}) String status,
        @Nullable String trigger,
        @Nullable Instant startedAt, @Nullable Instant finishedAt, @Nullable String currentStep, int stepsTotal,
        int stepsCompleted, List<String> proposalsCreated, @Nullable String error) {

    public RunStatus {
        proposalsCreated = Absent.asEmpty(proposalsCreated);
    }
}
