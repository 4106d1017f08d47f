package io.keelson.server.base.expr;

/**
 * An expression that cannot be parsed, does not give a value, or goes over its bounds. Codes:
 * {@code EXPRESSION_SYNTAX}, {@code EXPRESSION_FAILED}, {@code EXPRESSION_TIMEOUT}, {@code EXPRESSION_TOO_DEEP},
 * {@code EXPRESSION_OUTPUT_TOO_LARGE}, {@code EXPRESSION_INTERRUPTED}, {@code OUTPUT_INVALID}, {@code OUTPUT_TOO_LARGE}. All but the timeout and the interrupt are
 * the same at every attempt.
 */
public final class ExpressionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String code;
    private final String message;

    public ExpressionException(String code, String message) {
        super(message, null, false, false);
        this.code = code;
        this.message = message;
    }

    @Override
    public String getMessage() {
        return message;
    }

    /** Stable, UPPER_SNAKE. */
    public String code() {
        return code;
    }
}
