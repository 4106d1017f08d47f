package io.keelson.server.annex.model.wire;

/** An answer does not follow the wire. */
final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message) {
        super(message);
    }
}
