package io.keelson.core.run;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The wait of a call of another server's tool, with the content that its next execution needs. The core reads the state and the
 * rounds; it passes the rest on.
 *
 * @param system the other server's name
 * @param serverState opaque state that the answers return to the server; null if absent
 * @param remoteTask the id of the server's task; null if absent
 * @param questions JSON text, by their names at the server; null if absent
 * @param answers JSON text, by the names of the questions; null if absent
 * @param rounds number of times that the server has asked so far
 */
public record CallWait(State state, String system, String tool, @Nullable String serverState,
        @Nullable String remoteTask, @Nullable String questions, @Nullable String answers, int rounds) {

    /** The state of a call. */
    public enum State {
        /** It was sent, and its outcome is unknown. */
        SENT,
        /** A person is to answer the server's questions. */
        ASKED,
        /** It is to be sent again, with the answers. */
        ANSWERED,
        /** A task of the server works for it. */
        TASK;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }

        public static State of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }

    /** With another state. */
    public CallWait in(State next) {
        return new CallWait(next, system, tool, serverState, remoteTask, questions, answers, rounds);
    }
}
