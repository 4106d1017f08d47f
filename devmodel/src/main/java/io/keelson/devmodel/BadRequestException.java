package io.keelson.devmodel;

/** A request that a provider refuses, too. */
final class BadRequestException extends Exception {

    private static final long serialVersionUID = 1L;

    private final int status;

    BadRequestException(String message) {
        this(400, message);
    }

    BadRequestException(int status, String message) {
        super(message);
        this.status = status;
    }

    int status() {
        return status;
    }
}
