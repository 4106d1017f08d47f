package io.keelson.core.sim;

/** What may go wrong around a decision. A command knows which of these it met on its way. */
enum Fault {
    /** The transaction was rolled back; the same commands are decided again. */
    COMMIT_ABORTED,
    /** The transaction was committed and its answer lost: the same commands are decided once more. */
    COMMIT_UNANSWERED,
    /** Another node was faster: the view that was decided on is not current. */
    VIEW_STALE, CRASH_BEFORE_COMMIT,
    /** Committed, but the caller gets no reply and the follow-up work is not started. */
    CRASH_AFTER_COMMIT,
    /** The node paused with the command in progress, past leases and timers. */
    NODE_PAUSED,
    /** The node's estimate of database time was wrong. */
    CLOCK_SKEWED, MESSAGE_DUPLICATED,
    /** Later than others that were sent after it, up to minutes. */
    MESSAGE_DELAYED,
    /** The answer never came; who cares for it asks again. */
    ANSWER_DROPPED
}
