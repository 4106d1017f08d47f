package io.keelson.server.engine.tool;

/**
 * Announces when a call of a tool whose slots {@linkplain SlotKind#waits() wait} waits. The executor bounds the number of calls before that,
 * which prepare requests, and after it, which have answers in memory.
 */
public interface WaitPhase {

    /** For tools of {@link SlotKind#COMPUTING}. */
    WaitPhase NONE = new WaitPhase() {
        @Override
        public void begin() {}

        @Override
        public void end() {}
    };

    /** The call waits for another system from now on. */
    void begin();

    /** The other system answers. Blocks while too many other calls have their answers in memory. Idempotent. */
    void end();
}
