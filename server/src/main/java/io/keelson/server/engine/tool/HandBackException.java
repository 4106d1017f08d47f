package io.keelson.server.engine.tool;

import io.keelson.core.run.CallWait;
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
    private final transient @Nullable CallWait call;

    public HandBackException(String message, Throwable cause) {
        super(message, cause);
        this.busy = null;
        this.call = null;
    }

    /** The step goes back at once. */
    public HandBackException(String message) {
        super(message);
        this.busy = null;
        this.call = null;
    }

    public HandBackException(Busy busy, String message) {
        this(busy, null, message);
    }

    /** @param call the wait of the step's call of another server, to store with the step; null if absent */
    public HandBackException(Busy busy, @Nullable CallWait call, String message) {
        super(message);
        this.busy = busy;
        this.call = call;
    }

    /** The wait of the step's call of another server; null if absent. */
    public @Nullable CallWait call() {
        return call;
    }

    /** The busy system; null when the step may be executed again at once. */
    public @Nullable Busy busy() {
        return busy;
    }
}
