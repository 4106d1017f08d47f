package io.keelson.server.api.http.support;

import io.keelson.core.run.TraceParent;
import org.jspecify.annotations.Nullable;

/** Observes requests. Called on the thread of the request: count, or hand over. */
public interface RequestListener {

    /**
     * A request was answered.
     *
     * @param route its template; {@code unmatched} where no route has the path
     * @param nanos from its head to the end of its answer; including intentional waits
     * @param caller the caller's trace context; null if absent
     */
    default void answered(String method, String route, int status, long nanos, @Nullable TraceParent caller) {}

    /** A request was refused with the error code. */
    default void refused(String code) {}
}
