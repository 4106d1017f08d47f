package io.keelson.server.engine.store.read;

/** A task's transcript exceeds its bound. Its beginning is never left out, so the task can have no further turn. */
public final class TranscriptTooLongException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The failure's code. */
    public static final String CODE = "TRANSCRIPT_TOO_LONG";

    TranscriptTooLongException(String message) {
        super(message);
    }
}
