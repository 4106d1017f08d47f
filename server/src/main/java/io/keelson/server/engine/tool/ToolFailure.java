package io.keelson.server.engine.tool;

import io.keelson.core.policy.ErrorClass;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A call that did not work, with everything retry policy needs to decide what happens next. */
public final class ToolFailure extends Exception {

    private static final long serialVersionUID = 1L;

    private final String code;
    private final ErrorClass errorClass;
    private final transient @Nullable Duration retryAfter;
    private final transient ToolUsage spent;
    private final transient @Nullable String system;

    public ToolFailure(String code, ErrorClass errorClass, String message) {
        this(code, errorClass, message, null);
    }

    /** @param retryAfter the earliest time from now the other side wants to be asked again, null when it did not say */
    public ToolFailure(String code, ErrorClass errorClass, String message, @Nullable Duration retryAfter) {
        this(code, errorClass, message, retryAfter, ToolUsage.NONE, null);
    }

    private ToolFailure(String code, ErrorClass errorClass, String message, @Nullable Duration retryAfter,
            ToolUsage spent, @Nullable String system) {
        super(message);
        this.code = code;
        this.errorClass = errorClass;
        this.retryAfter = retryAfter;
        this.spent = spent;
        this.system = system;
    }

    public static ToolFailure permanent(String code, String message) {
        return new ToolFailure(code, ErrorClass.PERMANENT, message);
    }

    public static ToolFailure infrastructure(String code, String message) {
        return new ToolFailure(code, ErrorClass.INFRASTRUCTURE, message);
    }

    /** A copy for a call with a cost: an answer that its provider has billed, for example. */
    public ToolFailure spending(ToolUsage usage) {
        return new ToolFailure(code, errorClass, String.valueOf(getMessage()), retryAfter, usage, system);
    }

    /** A copy with another message. */
    public ToolFailure saying(String message) {
        return new ToolFailure(code, errorClass, message, retryAfter, spent, system);
    }

    /**
     * A copy for a system that is out of order for every call: the step waits in the queue until the system answers
     * again, if it may be repeated and has no cost.
     *
     * @param name of the system, such as {@code model:NAME}
     */
    public ToolFailure outOfOrder(String name) {
        return new ToolFailure(code, errorClass, String.valueOf(getMessage()), retryAfter, spent, name);
    }

    /** Stable, UPPER_SNAKE. */
    public String code() {
        return code;
    }

    public ErrorClass errorClass() {
        return errorClass;
    }

    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    /** The system that is out of order; null where the failure is the call's own. */
    public @Nullable String system() {
        return system;
    }

    /** The cost of the failed call. */
    public ToolUsage spent() {
        return spent;
    }
}
