package io.keelson.client;

/** The beginning of a new attempt of a failed run. */
public enum RetryFrom {
    /** Completed tasks are carried over with their outputs; the others start again. */
    FAILED,
    /** Everything starts fresh. */
    START
}
