package io.keelson.api.inbox;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A proposal of a step to people. Nothing waits for the answer.
 *
 * @param id {@code prop_…} in the status document
 * @param runId id of the run
 * @param runName name of the run
 * @param attempt the run's attempt
 * @param taskId id of the task
 * @param taskKey id of the task in the plan
 * @param stepId id of the step
 * @param stepName name of the step in the plan
 * @param title title of the proposal
 * @param body text of the proposal; null if absent
 * @param data the subject of the proposal, for programs: any value
 * @param state state of the proposal
 * @param createdAt time of its creation
 * @param expiresAt expires at
 * @param decidedAt decided at
 * @param decidedBy name of the person who decided; null before it
 * @param reason reason of the decision; null if absent
 */
public record Proposal(@Id String id, @Id String runId, String runName, @Range(min = 1) int attempt,
        @Id String taskId, @Nullable String taskKey, @Id String stepId, @Nullable String stepName, String title,
        @Nullable String body, JsonNode data,
        @OneOf({
                "pending", "accepted", "rejected", "expired", "withdrawn"}) String state,
        Instant createdAt,
        @Nullable Instant expiresAt, @Nullable Instant decidedAt, @Nullable String decidedBy,
        @Nullable String reason) {

    /** Whether it waits for an answer. */
    public boolean pending() {
        return state.equals("pending");
    }
}
