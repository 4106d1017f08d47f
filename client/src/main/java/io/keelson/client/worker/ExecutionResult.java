package io.keelson.client.worker;

import io.keelson.api.worker.Completion;
import io.keelson.api.worker.Failure;
import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Release;
import io.keelson.api.worker.Report;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The end of an execution.
 *
 * @param kind the route of its report
 * @param isAlone whether its report is sent in a request of its own
 * @param isLast whether nothing else is reported when the server refuses this report
 * @param report creates the report from the execution's last notes
 */
record ExecutionResult(Kind kind, boolean isAlone, boolean isLast, Function<Heartbeat, Report> report) {

    /** The routes under {@code /dispatch}. */
    enum Kind {
        COMPLETE, CONTINUE, FAIL, RELEASE;

        /** The last part of the route's path. */
        String route() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Whether reports of this route have notes. */
        boolean hasNotes() {
            return this != RELEASE;
        }
    }

    /** @param kind {@code COMPLETE}, or {@code CONTINUE} if the task needs another turn */
    static ExecutionResult output(Kind kind, JsonNode output, Execution of) {
        Heartbeat use = of.use();
        ResultAttachments.Taken files = of.takeAttachments();
        return new ExecutionResult(kind, !files.artifacts().isEmpty(), false,
                notes -> new Completion(use.stepId(), use.leaseEpoch(), use.tokens(), use.usage(), use.cost(),
                        use.model(), notes.progress(), notes.logs(), output, files.artifacts(), files.proposals(),
                        files.uploads()));
    }

    static ExecutionResult failure(StepFailure failure, Execution of) {
        return failure(failure, of.use(), false);
    }

    /** The failure of a step whose failure the server refuses, without all that it may have refused. */
    static ExecutionResult bareFailure(StepFailure failure, Execution of) {
        return failure(failure, of.journal().empty(), true);
    }

    private static ExecutionResult failure(StepFailure failure, Heartbeat use, boolean isLast) {
        return new ExecutionResult(Kind.FAIL, false, isLast,
                notes -> new Failure(use.stepId(), use.leaseEpoch(), use.tokens(), use.usage(), use.cost(), use.model(),
                        notes.progress(), notes.logs(), failure.code(), failure.errorClass().wire(), text(failure),
                        millis(failure.retryAfter())));
    }

    /** Releases an unfinished step, which costs neither an attempt nor a failure. */
    static ExecutionResult release() {
        return new ExecutionResult(Kind.RELEASE, false, true,
                notes -> new Release(notes.stepId(), notes.leaseEpoch(), null));
    }

    /** Releases a step until a time. */
    static ExecutionResult deferral(StepDeferral deferral) {
        return new ExecutionResult(Kind.RELEASE, false, true, notes -> new Release(notes.stepId(), notes.leaseEpoch(),
                new Release.Deferral(deferral.delay().toMillis(), deferral.busy(), deferral.code(), text(deferral))));
    }

    private static String text(Exception e) {
        return Objects.requireNonNullElse(e.getMessage(), "");
    }

    private static @Nullable Long millis(@Nullable Duration duration) {
        return duration == null ? null : duration.toMillis();
    }
}
