package io.keelson.client;

/** What a new attempt of a failed run begins with. */
public enum RetryFrom {
    /** What completed is carried over with its outputs; the rest starts fresh. */
    FAILED,
    /** Everything starts fresh. */
    START
}
