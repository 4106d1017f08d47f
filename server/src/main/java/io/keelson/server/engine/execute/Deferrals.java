package io.keelson.server.engine.execute;

import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.StepError;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolUsage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The deferrals of steps whose tools need a system that is busy or out of order. */
final class Deferrals {
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofMinutes(1);

    private Deferrals() {}

    /** Null for a step that may be executed again at once. */
    static @Nullable Deferral of(HandBackException e) {
        HandBackException.Busy busy = e.busy();
        return busy == null ? null
                : new Deferral(busy.delay(), busy.system(),
                        new StepError(busy.code(), ErrorClass.INFRASTRUCTURE, String.valueOf(e.getMessage())),
                        busy.maxWait());
    }

    /**
     * As long as the step has been deferred so far, a second at least and a minute at most; null for a step that fails, for its
     * system works, its call has cost something, or the call may not be repeated.
     */
    static @Nullable Deferral of(ToolFailure e, StepExecution execution, String message) {
        boolean free = e.spent().equals(ToolUsage.NONE) || e.spent().equals(ToolUsage.NOT_MADE);
        if (e.system() == null || !free || execution.atMostOnce()) {
            return null;
        }
        Duration asked = e.retryAfter();
        Duration delay = Duration.ofMillis(
                Math.clamp(execution.deferred().toMillis(), SHORTEST.toMillis(), LONGEST.toMillis()));
        return new Deferral(asked == null || asked.compareTo(delay) < 0 ? delay : asked, e.system(),
                new StepError(e.code(), e.errorClass(), message));
    }
}
