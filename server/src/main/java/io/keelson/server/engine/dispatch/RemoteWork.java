package io.keelson.server.engine.dispatch;

import io.keelson.server.artifact.ArtifactRefusedException;
import io.keelson.server.artifact.StoredArtifact;
import io.keelson.server.tool.Proposed;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What workers in other processes do: claim, heartbeat, and report. Each call takes a batch and answers every item;
 * an item of another workspace is answered as one that does not exist.
 */
public interface RemoteWork {

    /**
     * @param workerId the worker's own stable name
     * @param tools the tools it serves
     * @param max at most so many items
     * @param patience how long to wait for work when there is none
     * @param lease how long the lease lasts without a heartbeat; null for the default (30 s)
     * @param gone true once the worker cannot be answered any more: it is given nothing then
     */
    record Claim(UUID workspaceId, String workerId, List<String> tools, int max, Duration patience,
            @Nullable Duration lease, @Nullable String version, BooleanSupplier gone) {

        /** Of a worker that waits for its answer. */
        public Claim(UUID workspaceId, String workerId, List<String> tools, int max, Duration patience,
                @Nullable Duration lease, @Nullable String version) {
            this(workspaceId, workerId, tools, max, patience, lease, version, () -> false);
        }
    }

    /**
     * A step under the worker's lease.
     *
     * @param effectKey to pass to providers: the same over reclaims and infrastructure retries
     * @param failureContext code, class and message of the last failure, and in a task's further attempt its number and
     *     what ended the one before; null when nothing went wrong
     * @param details what an earlier holder's heartbeat left; null when none did
     * @param traceparent the header of W3C Trace Context for those who are called on its behalf; null for none
     */
    record Item(UUID stepId, UUID runId, UUID taskId, String tool, JsonNode input, int attempt, int leaseEpoch,
            Instant leaseExpiresAt, Instant deadline, String effectKey, @Nullable JsonNode failureContext,
            @Nullable JsonNode details, @Nullable String traceparent) {}

    record Beat(UUID stepId, int leaseEpoch, @Nullable Double progress, @Nullable String message,
            @Nullable JsonNode details, List<String> logs) {}

    record InlineArtifact(String name, String contentType, byte[] content) {}

    /**
     * @param cost in USD; null when the worker does not say, and prices decide
     * @param model that used the tokens; null when none is named
     * @param uploads artifacts that were uploaded under the same lease
     * @param proposals to people
     */
    record Completion(UUID stepId, int leaseEpoch, JsonNode output, long tokens, @Nullable BigDecimal cost,
            @Nullable String model, List<InlineArtifact> artifacts, List<UUID> uploads, List<Proposed> proposals) {

        /** One that proposes nothing. */
        public Completion(UUID stepId, int leaseEpoch, JsonNode output, long tokens, @Nullable BigDecimal cost,
                @Nullable String model, List<InlineArtifact> artifacts, List<UUID> uploads) {
            this(stepId, leaseEpoch, output, tokens, cost, model, artifacts, uploads, List.of());
        }
    }

    /**
     * A file on its way to the store.
     *
     * @param retention for how long it is kept after the end of its run; null for as long as others
     * @param sha256 64 hex digits that its bytes must have; null when the worker does not say
     * @param announced bytes that it has; 0 when the worker does not say
     */
    record Upload(UUID stepId, int leaseEpoch, String name, String contentType, @Nullable Duration retention,
            @Nullable String sha256, long announced) {}

    /** What became of an upload. */
    sealed interface UploadReply {

        /** @param id what the step's result names it by */
        record Stored(UUID id, StoredArtifact artifact) implements UploadReply {}

        record NoStep() implements UploadReply {}

        record StaleLease() implements UploadReply {}
    }

    /**
     * @param cost in USD; null when the worker does not say, and prices decide
     * @param model that used the tokens; null when none is named
     */
    record Failure(UUID stepId, int leaseEpoch, String errorCode, @Nullable String errorClass, String message,
            @Nullable Duration retryAfter, long tokens, @Nullable BigDecimal cost, @Nullable String model) {}

    /**
     * A worker's wish to go on, as it hands in results, with the next step of each completed step's task.
     *
     * @param tools the tools it serves
     * @param lease of what it gets; null for the default (30 s)
     */
    record GoOn(List<String> tools, @Nullable Duration lease) {}

    record Handback(UUID stepId, int leaseEpoch) {}

    /**
     * @param status {@code ok}, {@code duplicate}, {@code conflict}, {@code stale_lease}, {@code cancelled} (heartbeats: stop working),
     *            {@code not_found} or {@code rejected}
     * @param leaseExpiresAt set for heartbeats that were accepted
     * @param code stable code of a rejection; null otherwise
     * @param next the following step of the task, the worker's since the same commit; null when it got none
     * @param result JSON text of the stored output, for a repeated report of it; null otherwise
     */
    record Answer(UUID stepId, String status, @Nullable Instant leaseExpiresAt, @Nullable String code,
            @Nullable String message, @Nullable Item next, @Nullable String result) {

        Answer(UUID stepId, String status, @Nullable Instant leaseExpiresAt, @Nullable String code,
                @Nullable String message, @Nullable Item next) {
            this(stepId, status, leaseExpiresAt, code, message, next, null);
        }
    }

    /** Returns as soon as there is something, empty when the wait is over. */
    List<Item> claim(Claim claim) throws InterruptedException;

    List<Answer> heartbeat(UUID workspaceId, String workerId, List<Beat> beats);

    /**
     * Hands in results.
     *
     * @param goOn null when the worker wants nothing to go on with. What a report has got it gets again when it is
     *            repeated, for as long as the worker holds it
     */
    List<Answer> complete(UUID workspaceId, String workerId, List<Completion> items, @Nullable GoOn goOn);

    /**
     * Stores an artifact of a step at work as it comes; it is the step's when the step's result names it.
     *
     * @throws ArtifactRefusedException naming what is wrong with it
     */
    UploadReply upload(UUID workspaceId, String workerId, Upload upload, InputStream content) throws IOException;

    /** As complete, but each task gets another turn a second later. */
    List<Answer> another(UUID workspaceId, String workerId, List<Completion> items);

    List<Answer> fail(UUID workspaceId, String workerId, List<Failure> items);

    List<Answer> release(UUID workspaceId, String workerId, List<Handback> items);

    /** Stops giving work to a worker; what it holds it may finish. False when there is no such worker. */
    boolean drain(UUID workspaceId, String workerId);
}
