package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The status document of a run.
 *
 * @param status {@code requested}, {@code queued}, {@code running}, {@code completed} or {@code failed}
 * @param error {@code CODE: message}; null when there is none
 */
public record RunStatus(String runId, @Nullable String agentSlug, String status, @Nullable String trigger,
        @Nullable Instant startedAt, @Nullable Instant finishedAt, @Nullable String currentStep, int stepsTotal,
        int stepsCompleted, List<String> proposalsCreated, @Nullable String error) {

    public RunStatus {
        proposalsCreated = proposalsCreated == null ? List.of() : List.copyOf(proposalsCreated);
    }
}
