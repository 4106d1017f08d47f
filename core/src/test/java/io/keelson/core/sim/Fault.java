package io.keelson.core.sim;

/** What may go wrong around a decision. A command knows which of these it met on its way. */
enum Fault {
    /** The transaction was rolled back; the same commands are decided again. */
    COMMIT_ABORTED,
    /** The transaction was committed and its answer lost: the same commands are decided once more. */
    COMMIT_UNANSWERED,
    /** Another node was faster: the view that was decided on is not current. */
    VIEW_STALE,
    CRASH_BEFORE_COMMIT,
    /** Committed, but whoever asked hears nothing and what was to be started is not. */
    CRASH_AFTER_COMMIT,
    /** The node stood still with the command in its hands, past leases and timers. */
    NODE_PAUSED,
    /** The node took another time for the database's. */
    CLOCK_SKEWED,
    MESSAGE_DUPLICATED,
    /** Later than others that were sent after it, up to minutes. */
    MESSAGE_DELAYED,
    /** The answer never came; who cares for it asks again. */
    ANSWER_DROPPED
}
