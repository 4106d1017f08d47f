package io.keelson.server.base.problem;

import org.jspecify.annotations.Nullable;

/** The server cannot start, or has to be started again; the message says why and what to do, in one line. */
public final class StartupException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String code;

    public StartupException(String code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** Stable, UPPER_SNAKE. */
    public String code() {
        return code;
    }
}
