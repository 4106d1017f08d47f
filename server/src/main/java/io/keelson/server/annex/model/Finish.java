package io.keelson.server.annex.model;

/** Why an answer ended. */
public enum Finish {
    /** It is complete. */
    STOP,
    /** It asks for calls of tools. */
    CALLS,
    /** The bound of output tokens was reached. */
    LENGTH,
    /** The provider has withheld it. */
    CONTENT_FILTER,
    /** The model refuses; the text says why. */
    REFUSAL
}
