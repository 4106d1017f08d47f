package io.keelson.server.engine.dispatch;

import io.keelson.core.money.Tokens;
import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.engine.tool.Proposed;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The API of remote workers: claim, heartbeat, and report. Each call takes a batch and answers every item; an item of
 * another workspace gets the same answer as an unknown one.
 */
public interface RemoteWork {

    /**
     * @param workerId the worker's own stable name
     * @param tools the tools it serves
     * @param max maximum number of items
     * @param maxWait maximum wait for work
     * @param lease how long the lease lasts without a heartbeat; null for the default (30 s)
     * @param specs the announced tools, as JSON text; null if unchanged
     * @param again whether the worker claims again as soon as it has the answer: it gets steps that become ready
     *            meanwhile, as long as it has slots of {@code max} left
     * @param gone true once the worker cannot be answered any more: it gets no work then. Commits ask it, so it must
     *            return at once
     * @param over true when the claim must not wait any longer
     */
    record Claim(UUID workspaceId, String workerId, List<String> tools, int max, Duration maxWait,
            @Nullable Duration lease, @Nullable String version, @Nullable String specs, boolean again,
            BooleanSupplier gone, BooleanSupplier over) {

        /** For a worker that waits for its answer. */
        public Claim(UUID workspaceId, String workerId, List<String> tools, int max, Duration maxWait,
                @Nullable Duration lease, @Nullable String version) {
            this(workspaceId, workerId, tools, max, maxWait, lease, version, null, false, () -> false, () -> false);
        }
    }

    /**
     *
     * A step under the worker's lease.
     *
     * @param effectKey to pass to providers: the same over reclaims and infrastructure retries
     * @param failureContext code, class and message of the last failure, and in a task's further attempt its number and
     *                       the end of the previous one; null without a failure
     * @param details of an earlier holder's heartbeat; null if absent
     * @param traceparent the header of W3C Trace Context for systems that are called on its behalf; null if absent
     * @param maxOutputTokens that the credits held for it pay; null when none are held
     */
    record Item(UUID stepId, UUID runId, UUID taskId, String tool, JsonNode input, int attempt, int leaseEpoch,
            Instant leaseExpiresAt, Instant deadline, String effectKey, @Nullable JsonNode failureContext,
            @Nullable JsonNode details, @Nullable String traceparent, @Nullable Long maxOutputTokens) {}

    /** @param used since the beginning of the lease; null when the worker does not say it */
    record Beat(UUID stepId, int leaseEpoch, Notes notes, @Nullable JsonNode details, @Nullable Used used) {

        /** A sign of life without a report of use. */
        public Beat(UUID stepId, int leaseEpoch, @Nullable Double progress, @Nullable String message,
                @Nullable JsonNode details, List<String> logs) {
            this(stepId, leaseEpoch, new Notes(progress, message, logs), details, null);
        }
    }

    /**
     * Progress for people, and log lines.
     *
     * @param progress 0 to 1; null for nothing new
     * @param message null for nothing new
     */
    record Notes(@Nullable Double progress, @Nullable String message, List<String> logs) {
        public static final Notes NONE = new Notes(null, null, List.of());
    }

    /**
     * The use of an execution.
     *
     * @param cost in credits; null when the worker does not report it, and prices decide
     * @param model that used the tokens; null when none is named
     */
    record Used(Tokens tokens, @Nullable BigDecimal cost, @Nullable String model) {}

    record InlineArtifact(String name, String contentType, byte[] content) {}

    /**
     * @param cost in credits; null when the worker does not report it, and prices decide
     * @param model that used the tokens; null when none is named
     * @param uploads artifacts that were uploaded under the same lease
     * @param proposals to people
     */
    record Completion(UUID stepId, int leaseEpoch, JsonNode output, Tokens tokens, @Nullable BigDecimal cost,
            @Nullable String model, List<InlineArtifact> artifacts, List<UUID> uploads, List<Proposed> proposals,
            Notes notes) {

        /** A result without proposals and notes. */
        public Completion(UUID stepId, int leaseEpoch, JsonNode output, Tokens tokens, @Nullable BigDecimal cost,
                @Nullable String model, List<InlineArtifact> artifacts, List<UUID> uploads) {
            this(stepId, leaseEpoch, output, tokens, cost, model, artifacts, uploads, List.of(), Notes.NONE);
        }
    }

    /**
     * A file to store.
     *
     * @param retention after the end of its run; null for the default
     * @param sha256 64 hex digits that its bytes must match; null when the worker does not send it
     * @param announced its size in bytes; 0 when the worker does not send it
     */
    record Upload(UUID stepId, int leaseEpoch, String name, String contentType, @Nullable Duration retention,
            @Nullable String sha256, long announced) {}

    /** The result of an upload. */
    sealed interface UploadReply {

        /** @param id its name in the step's result */
        record Stored(UUID id, StoredArtifact artifact) implements UploadReply {}

        record NoStep() implements UploadReply {}

        record StaleLease() implements UploadReply {}
    }

    /**
     * @param cost in credits; null when the worker does not report it, and prices decide
     * @param model that used the tokens; null when none is named
     */
    record Failure(UUID stepId, int leaseEpoch, String errorCode, @Nullable String errorClass, String message,
            @Nullable Duration retryAfter, Tokens tokens, @Nullable BigDecimal cost, @Nullable String model,
            Notes notes) {

        /** A failure without notes. */
        public Failure(UUID stepId, int leaseEpoch, String errorCode, @Nullable String errorClass, String message,
                @Nullable Duration retryAfter, Tokens tokens, @Nullable BigDecimal cost, @Nullable String model) {
            this(stepId, leaseEpoch, errorCode, errorClass, message, retryAfter, tokens, cost, model, Notes.NONE);
        }
    }

    /** Why a worker is to stop working on a step. */
    enum Stop {
        /** No limit of the run, of its task or of the credits leaves anything for more; the lease is valid. */
        BUDGET_EXCEEDED,
        /** The step was cancelled or is not needed. */
        CANCELLED,
        /** The time of the step, its task or its run is over. */
        TIMED_OUT,
        /** The lease ended without a report, or by one. */
        LOST
    }

    /**
     * A worker's request, with results, for the next step of each completed step's task.
     *
     * @param tools the tools it serves
     * @param lease of the next step; null for the default (30 s)
     */
    record Continuation(List<String> tools, @Nullable Duration lease) {}

    /** @param deferral why the step cannot be executed yet; null when it may be claimed at once */
    record Handback(UUID stepId, int leaseEpoch, @Nullable Postponement deferral) {}

    /**
     * @param busy the busy system; null when the worker names none
     * @param errorCode of the failure when it is busy for longer than the run waits
     */
    record Postponement(Duration delay, @Nullable String busy, String errorCode, String message) {}

    /**
     * @param status {@code ok}, {@code duplicate}, {@code conflict}, {@code stale_lease}, {@code stop} (heartbeats),
     *            {@code not_found} or {@code rejected}
     * @param leaseExpiresAt set for accepted heartbeats
     * @param code stable code of a rejection; null otherwise
     * @param next the following step of the task, which the worker holds since the same commit; null if absent
     * @param result JSON text of the stored output, for a repeated report; null otherwise
     * @param stop why the worker is to stop; null otherwise
     */
    record Answer(UUID stepId, String status, @Nullable Instant leaseExpiresAt, @Nullable String code,
            @Nullable String message, @Nullable Item next, @Nullable String result, @Nullable Stop stop) {

        Answer(UUID stepId, String status, @Nullable Instant leaseExpiresAt, @Nullable String code,
                @Nullable String message, @Nullable Item next) {
            this(stepId, status, leaseExpiresAt, code, message, next, null, null);
        }
    }

    /**
     * Makes tools known before a worker claims their steps, so that missions may name them.
     *
     * @param specs the announced tools, as JSON text
     */
    void register(UUID workspaceId, String workerId, List<String> tools, String specs);

    /** Returns as soon as there is work; empty after the wait. */
    List<Item> claim(Claim claim) throws InterruptedException;

    /**
     * The announced tools of the workspace's workers, by name: objects with {@code name}, and where they say
     * it {@code description}, {@code input_schema} and {@code effects}.
     */
    Map<String, JsonNode> announced(UUID workspaceId);

    List<Answer> heartbeat(UUID workspaceId, String workerId, List<Beat> beats);

    /**
     * Reports results.
     *
     * @param next null to request no next step. A repeated report gets the same next step again, while the worker holds
     *             it
     */
    List<Answer> complete(UUID workspaceId, String workerId, List<Completion> items, @Nullable Continuation next);

    /**
     * Stores an artifact of a running step while it arrives; it becomes the step's when the step's result names it.
     *
     * @throws ArtifactRefusedException with the reason
     */
    UploadReply upload(UUID workspaceId, String workerId, Upload upload, InputStream content) throws IOException;

    /** Like {@link #complete}, but each task gets another turn a second later. */
    List<Answer> another(UUID workspaceId, String workerId, List<Completion> items);

    List<Answer> fail(UUID workspaceId, String workerId, List<Failure> items);

    List<Answer> release(UUID workspaceId, String workerId, List<Handback> items);

    /** Drains a worker, which may finish its leased work. False for an unknown worker. */
    boolean drain(UUID workspaceId, String workerId);
}
