package io.keelson.server.annex.model.wire;

import io.keelson.server.annex.model.ModelException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The provider refuses a request that was passed on. It has billed nothing. */
public final class PassedRefusalException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final transient ModelException reason;

    PassedRefusalException(int status, ModelException reason) {
        super(reason.getMessage(), reason);
        this.status = status;
        this.reason = reason;
    }

    /** The provider's status. */
    public int status() {
        return status;
    }

    /** Whether the same request may be answered later. */
    public boolean passes() {
        return reason.kind() == ModelException.Kind.DEFERRED || reason.kind() == ModelException.Kind.UNAVAILABLE;
    }

    /** The pause that the provider requests; null if absent. */
    public @Nullable Duration retryAfter() {
        return reason.retryAfter();
    }
}
