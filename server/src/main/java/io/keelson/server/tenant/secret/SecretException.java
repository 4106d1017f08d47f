package io.keelson.server.tenant.secret;

/** A secret that cannot be had: {@code SECRET_NOT_FOUND} or {@code SECRET_KEY_MISSING}. */
public final class SecretException extends RuntimeException {

    public static final String KEY_MISSING = "SECRET_KEY_MISSING";

    private static final long serialVersionUID = 1L;

    private final String code;

    SecretException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** Stable, UPPER_SNAKE. */
    public String code() {
        return code;
    }
}
