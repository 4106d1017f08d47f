package io.keelson.server.engine.store;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Limits per minute of requests to models: of their number, and of their tokens. A request takes its worst case before it is sent, and
 * gives back the rest when its usage is known.
 */
public interface ModelRates {

    /** Without limits. */
    ModelRates NONE = new ModelRates() {
        @Override
        public Admission take(UUID workspace, String model, boolean counted, long tokens, Duration patience) {
            return Admission.free(workspace, model);
        }

        @Override
        public void correct(Admission request, long tokens) {}
    };

    /**
     * The answer to a request.
     *
     * @param limit that makes the request wait, or refuses it, as {@code NAME=N}; null if absent
     * @param pause until the request may be sent, or until it may be repeated if it is refused; null if it is never admitted
     * @param admitted whether the request is counted
     */
    record Admission(UUID workspace, String model, long tokens, @Nullable String limit, @Nullable Duration pause,
            boolean admitted) {

        static Admission free(UUID workspace, String model) {
            return new Admission(workspace, model, 0, null, Duration.ZERO, true);
        }
    }

    /**
     * Counts a request, in the order of the calls. The caller waits for the time of the answer.
     *
     * @param counted whether the claim of its step has counted the request
     * @param tokens at most
     * @param patience a request that would wait longer is refused, and not counted
     */
    Admission take(UUID workspace, String model, boolean counted, long tokens, Duration patience);

    /**
     * The usage of a request is known.
     *
     * @param tokens that it has used; 0 if the provider has refused it
     */
    void correct(Admission request, long tokens);
}
