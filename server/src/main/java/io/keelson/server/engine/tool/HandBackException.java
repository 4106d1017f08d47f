package io.keelson.server.engine.tool;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The tool cannot work at this time, through no fault of the step: the step goes back to the queue and uses no attempt. Only
 * for tools that a further call does no harm to.
 */
public final class HandBackException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * A system that the tool needs and that is busy.
     *
     * @param system its name, such as {@code model:NAME}
     * @param code of the step's failure when it is busy for longer than the run waits
     * @param delay time until the step may be executed again
     * @param maxWait how long the step may be handed back in all; null for as long as the run waits for busy systems
     */
    public record Busy(String system, String code, Duration delay, @Nullable Duration maxWait) {

        /** With the maximum wait of the run. */
        public Busy(String system, String code, Duration delay) {
            this(system, code, delay, null);
        }
    }

    private final transient @Nullable Busy busy;

    public HandBackException(String message, Throwable cause) {
        super(message, cause);
        this.busy = null;
    }

    /** The step goes back at once. */
    public HandBackException(String message) {
        super(message);
        this.busy = null;
    }

    public HandBackException(Busy busy, String message) {
        super(message);
        this.busy = busy;
    }

    /** The busy system; null when the step may be executed again at once. */
    public @Nullable Busy busy() {
        return busy;
    }
}
