package io.keelson.server.api.picture;

import java.util.Locale;

/**
 * One part of a task's time.
 *
 * @param from in milliseconds since 1970
 * @param to greater than {@code from}; the present where {@code open}
 * @param open whether it lasts
 */
public record Stretch(Kind kind, long from, long to, boolean open) {

    /** The kind of an interval. If tasks differ at one time, the kind that is declared first counts. */
    public enum Kind {
        /** A worker or the server executes a step. */
        WORK,
        /** An execution that failed. */
        FAILED,
        /** Nothing but a worker or a place for it is missing. */
        QUEUED,
        /** A failure was before, and the next try is not due yet or has not begun. */
        BACKOFF,
        /** A person is asked. */
        PERSON,
        /** A time, a signal or a child run is awaited. */
        TIMER;

        /** The name in documents. */
        public String wire() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    Stretch until(long end, boolean lasts) {
        return new Stretch(kind, from, end, lasts);
    }
}
