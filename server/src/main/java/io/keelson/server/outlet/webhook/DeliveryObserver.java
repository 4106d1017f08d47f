package io.keelson.server.outlet.webhook;

import io.keelson.core.run.TraceParent;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Observes deliveries. Called on the sending threads, so it must return quickly. */
public interface DeliveryObserver {

    /** The outcome of an attempt. */
    enum Outcome {
        DELIVERED,
        /** It is tried again. */
        FAILED,
        /** It was the last attempt. */
        DEAD,
        /** The receiver is gone for good. */
        GONE
    }

    /**
     * One attempt at a delivery, as stored in the database.
     *
     * @param format of the endpoint
     * @param type of the event, as sent
     * @param status of the answer; null without one
     * @param nanos its duration
     * @param run the trace position of its run; null if absent
     * @param place the request's {@code traceparent} header; null if absent
     */
    record Attempt(UUID endpoint, EndpointFormat format, String type, Outcome outcome, @Nullable Integer status,
            long nanos,
            @Nullable TraceParent run, @Nullable TraceParent place) {}

    /**
     * The trace position of an attempt about to be made, for its receiver; null if absent.
     *
     * @param run the trace position of its run; null if absent
     */
    default @Nullable TraceParent place(@Nullable TraceParent run) {
        return run;
    }

    default void attempted(Attempt attempt) {}
}
