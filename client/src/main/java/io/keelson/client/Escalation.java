package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ticket: a question of the failure policy that holds a run up until a person has answered it.
 *
 * @param attempt the run's attempt
 * @param kind {@code failure} or {@code replan_approval}
 * @param taskKey the task's id in the plan; null for a ticket about the whole run
 * @param severity {@code medium}, {@code high} or {@code critical}; rises while it is unanswered
 * @param reason why a person is asked, a code
 * @param errorCode of the cause; null if there was no failure
 * @param state {@code open} or {@code resolved}
 * @param resolution the answer; {@code void} when the run ended without one, null while open
 * @param suggestedActions answers that are possible; empty when it is resolved
 */
public record Escalation(String id, String runId, String runName, int attempt, String kind, @Nullable String taskId,
        @Nullable String taskKey, @Nullable String stepId, @Nullable String stepName, String severity, String reason,
        @Nullable String errorCode, String message, String state, @Nullable String resolution,
        @Nullable String resolvedBy, @Nullable String resolutionReason, List<String> suggestedActions,
        @Nullable Instant openedAt, @Nullable Instant resolvedAt) {

    public Escalation {
        suggestedActions = suggestedActions == null ? List.of() : List.copyOf(suggestedActions);
    }

    /** Whether it waits for an answer. */
    public boolean open() {
        return state.equals("open");
    }
}
