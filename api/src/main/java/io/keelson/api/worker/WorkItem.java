package io.keelson.api.worker;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Range;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A step under the worker's lease.
 *
 * @param stepId id of the step
 * @param runId id of the run
 * @param taskId id of the task
 * @param tool tool to call
 * @param input resolved input
 * @param attempt number of the step's attempt
 * @param leaseEpoch epoch of the lease
 * @param leaseExpiresAt end of the lease without a heartbeat
 * @param deadline end of the attempt by the step's {@code timeout_seconds}, however often the lease is renewed
 * @param effectKey key for providers: equal over reclaims and infrastructure retries
 * @param failureContext {@code error_code}, {@code error_class} and {@code message} of the last failure; in a task's further
 *     attempt {@code task_attempt} and, as {@code task_failure}, the end of the previous one, a verifier's feedback for example
 * @param details details of the last heartbeat of an earlier holder
 * @param traceparent the W3C Trace Context header for calls made by the step
 * @param maxOutputTokens tokens of output that the credits held for the step's {@code worst_case} pay, reasoning included; pass
 *     it to the provider. Null without a worst case
 * @param gateway access to the gateway; null if its tool has not announced {@code gateway}
 * @param following the next steps of the task, if the claim has {@code chains}: to be executed after this one, in their order, until
 *     one does not complete. The lease of each begins when the results of those before it are reported; until then
 *     heartbeats and uploads are refused
 */
public record WorkItem(UUID stepId, UUID runId, UUID taskId, String tool, JsonNode input, @Range(min = 1) int attempt,
        @Range(min = 1) int leaseEpoch, Instant leaseExpiresAt, Instant deadline, String effectKey,
        JsonNode failureContext, JsonNode details, @Nullable String traceparent,
        @Nullable @Range(min = 0) Long maxOutputTokens, @Nullable Gateway gateway, List<Following> following) {

    /**
     * Access to the gateway, as long as the lease lasts. Its text form shows no token.
     *
     * @param token of the step's lease, as bearer or as {@code x-api-key}: for {@code /gateway/openai/v1}, {@code /gateway/anthropic} and
     *     {@code /gateway/mcp} of this server, and for nothing else
     */
    public record Gateway(String token) {
        @Override
        public String toString() {
            return "Gateway[]";
        }
    }

    /**
     * A step of the same task, whose lease has not begun.
     *
     * @param stepId id of the step
     * @param tool tool to call
     * @param input resolved input
     * @param attempt number of the step's attempt
     * @param leaseEpoch epoch of the lease to come
     * @param deadline end of the attempt, if its lease began now
     * @param effectKey key for providers
     * @param traceparent the W3C Trace Context header for calls made by the step
     */
    public record Following(UUID stepId, String tool, JsonNode input, @Range(min = 1) int attempt,
            @Range(min = 1) int leaseEpoch, Instant deadline, String effectKey, @Nullable String traceparent) {
        public Following {
            Objects.requireNonNull(stepId, "step_id");
            Objects.requireNonNull(tool, "tool");
            input = Absent.asNull(input);
        }
    }

    /** The following step in the form of a claimed one. */
    public WorkItem of(Following next) {
        return new WorkItem(next.stepId, runId, taskId, next.tool, next.input, next.attempt, next.leaseEpoch,
                leaseExpiresAt, next.deadline, next.effectKey, Absent.asNull(null), Absent.asNull(null),
                next.traceparent, null, null, List.of());
    }

    public WorkItem {
        Objects.requireNonNull(stepId, "step_id");
        Objects.requireNonNull(tool, "tool");
        input = Absent.asNull(input);
        failureContext = Absent.asNull(failureContext);
        details = Absent.asNull(details);
        following = following == null ? List.of() : List.copyOf(following);
    }
}
