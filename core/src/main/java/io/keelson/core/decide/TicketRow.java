package io.keelson.core.decide;

import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.StepError;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A question to a person that holds up the run: what failed, why the policy does not decide, and the possible answers.
 */
public final class TicketRow {
    private final UUID id;
    private final Kind kind;
    private final @Nullable UUID taskId;
    private final @Nullable UUID stepId;
    private final int attempt;
    private final String reason;
    private final @Nullable String errorCode;
    private final @Nullable String system;
    private final String message;
    private final Instant openedAt;

    Severity severity;
    @Nullable String resolution;
    @Nullable String resolvedBy;
    @Nullable String comment;
    @Nullable Instant resolvedAt;

    /** The question. */
    public enum Kind {
        /** A step or a task has exhausted its retry policy. */
        FAILURE,
        /** A new plan needs approval. */
        REPLAN_APPROVAL;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }

        public static Kind of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }

    /** Its urgency; rises while it stays unanswered. */
    public enum Severity {
        MEDIUM, HIGH, CRITICAL;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }

        public static Severity of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }

        Severity raised() {
            return this == MEDIUM ? HIGH : CRITICAL;
        }
    }

    /**
     * @param attempt the run attempt
     * @param taskId the task; null when it is about the whole run
     * @param stepId the step; null when it is about the whole task or run
     * @param reason why a person is asked, a code
     * @param errorCode of the failure; null if absent
     * @param system that is out of order, see {@link StepError#system}
     */
    public TicketRow(UUID id, Kind kind, int attempt, @Nullable UUID taskId, @Nullable UUID stepId, Severity severity,
            String reason, @Nullable String errorCode, @Nullable String system, String message, Instant openedAt) {
        this.id = id;
        this.kind = kind;
        this.attempt = attempt;
        this.taskId = taskId;
        this.stepId = stepId;
        this.severity = severity;
        this.reason = reason;
        this.errorCode = errorCode;
        this.system = system;
        this.message = message;
        this.openedAt = openedAt;
    }

    public UUID id() {
        return id;
    }

    public Kind kind() {
        return kind;
    }

    /** The run attempt. */
    public int attempt() {
        return attempt;
    }

    public @Nullable UUID taskId() {
        return taskId;
    }

    public @Nullable UUID stepId() {
        return stepId;
    }

    public Severity severity() {
        return severity;
    }

    /** Why a person is asked, a code. */
    public String reason() {
        return reason;
    }

    /** Why a person is asked, in words; null where the message says it. */
    public static @Nullable String words(String reason) {
        return reason.equals(Ladder.REASON) ? "no other agent, model or plan has helped"
                : Arrays.stream(RetryReason.values()).filter(each -> each.wire().equals(reason))
                        .filter(each -> each != RetryReason.ERROR_COUNT_EXCEEDED
                                && each != RetryReason.ERROR_RATE_EXCEEDED)
                        .map(RetryReason::text).findFirst().orElse(null);
    }

    public @Nullable String errorCode() {
        return errorCode;
    }

    /** The system that is out of order; null where none is known to be. */
    public @Nullable String system() {
        return system;
    }

    public String message() {
        return message;
    }

    public Instant openedAt() {
        return openedAt;
    }

    /** {@code resume}, {@code skip}, {@code fail} or {@code cancel}; {@code void} when the run ended without an answer;
     * null while open. */
    public @Nullable String resolution() {
        return resolution;
    }

    public @Nullable String resolvedBy() {
        return resolvedBy;
    }

    public @Nullable String comment() {
        return comment;
    }

    public @Nullable Instant resolvedAt() {
        return resolvedAt;
    }
}
