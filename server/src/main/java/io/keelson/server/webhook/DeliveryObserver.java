package io.keelson.server.webhook;

import io.keelson.core.run.TraceParent;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Who looks at deliveries from outside. Called on the threads that send: count, or hand over. */
public interface DeliveryObserver {

    /** Nobody looks. */
    DeliveryObserver NONE = new DeliveryObserver() {};

    /** What an attempt came to. */
    enum Outcome {
        DELIVERED,
        /** It is tried again. */
        FAILED,
        /** It was the last one. */
        DEAD,
        /** The receiver said that it is gone for good. */
        GONE
    }

    /**
     * One attempt at a delivery, noted in the database.
     *
     * @param type of the event, as it is told
     * @param status what was answered; null where nobody did
     * @param nanos how long it took
     * @param run where its run is in a trace; null where it is in none
     * @param place what the request bore in the header {@code traceparent}; null for nothing
     */
    record Attempt(UUID endpoint, String type, Outcome outcome, @Nullable Integer status, long nanos,
            @Nullable TraceParent run, @Nullable TraceParent place) {}

    /**
     * Where an attempt that is about to be made is in a trace, for its receiver; null for nowhere.
     *
     * @param run where its run is; null where it is in none
     */
    default @Nullable TraceParent place(@Nullable TraceParent run) {
        return run;
    }

    default void attempted(Attempt attempt) {}

    /** Whoever counts, and whoever makes spans and so says where they are. */
    record Both(DeliveryObserver counts, DeliveryObserver traces) implements DeliveryObserver {

        @Override
        public @Nullable TraceParent place(@Nullable TraceParent run) {
            return traces.place(run);
        }

        @Override
        public void attempted(Attempt attempt) {
            counts.attempted(attempt);
            traces.attempted(attempt);
        }
    }
}
