package io.keelson.cli.follow;

import io.keelson.api.run.Event;
import io.keelson.cli.view.RunModel;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Shows a followed run. */
interface Display extends AutoCloseable {

    /** Shows nothing. */
    Display NONE = new Display() {
        @Override
        public void happened(List<Event> events, RunModel model) {
            // no client watches
        }

        @Override
        public void show(RunModel model, Instant now) {
            // no client watches
        }

        @Override
        public void close() {
            // nothing is open
        }
    };

    /** Events that the model has taken in, each once and in order. */
    void happened(List<Event> events, RunModel model);

    /** Called some ten times a second. */
    void show(RunModel model, Instant now);

    /**
     * Shows that the server has not answered for a duration; called about once a second. The next display replaces it.
     */
    default void unanswered(Duration since) {
        // no client watches
    }

    /** Shows how long an answer has taken so far; called several times a second. The next display replaces it. */
    default void slow(Duration since) {
        // no client watches
    }

    /** Leaves the displayed text in place, so that other text can follow; the display may continue afterwards. */
    @Override
    void close();

    /** Closes it for good: nothing is shown any more. */
    default void end() {
        close();
    }
}
