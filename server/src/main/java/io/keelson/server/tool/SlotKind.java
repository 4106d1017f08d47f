package io.keelson.server.tool;

/** The kinds of slots of a server's executors. A call uses one slot of its tool's kind until its outcome is recorded. */
public enum SlotKind {

    /** For calls that use a processor, memory or a child process for most of their time. */
    COMPUTING,

    /** For calls that wait for another system for most of their time; see {@link WaitPhase}. */
    WAITING
}
