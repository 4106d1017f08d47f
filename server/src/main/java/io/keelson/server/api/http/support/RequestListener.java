package io.keelson.server.api.http.support;

import io.keelson.core.run.TraceParent;
import org.jspecify.annotations.Nullable;

/** Observes requests. Called on the thread of the request: count, or hand over. */
public interface RequestListener {

    /**
     * A request was answered.
     *
     * @param route its template; {@code unmatched} where no route has the path
     * @param nanos from its head to the end of its answer; what is held open on purpose included
     * @param caller where the caller is in a trace of theirs; null where they did not say
     */
    default void answered(String method, String route, int status, long nanos, @Nullable TraceParent caller) {}

    /** A request was refused with the error code. */
    default void refused(String code) {}
}
