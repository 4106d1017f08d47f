package io.keelson.server.annex.s3;

/** The store does not respond, or responds that it cannot at the moment. */
final class StoreUnreachableException extends Exception {

    private static final long serialVersionUID = 1L;

    StoreUnreachableException(String message, Throwable cause) {
        super(message, cause);
    }
}
