package io.keelson.server.engine.tool;

/** The kinds of slots of a server's executors. A call uses one slot of its tool's kind until its outcome is recorded. */
public enum SlotKind {

    /** For calls that use a processor, memory or a child process for most of their time. */
    COMPUTING,

    /** For calls that wait for another system for most of their time; see {@link Execution#waitBegins}. */
    WAITING,

    /** The slot of calls that wait for a language model: like {@link #WAITING}, within a bound of their own. */
    MODEL;

    /** Whether calls wait for another system for most of their time. */
    public boolean waits() {
        return this != COMPUTING;
    }
}
