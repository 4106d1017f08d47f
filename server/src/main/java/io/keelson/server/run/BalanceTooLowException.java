package io.keelson.server.run;

/**
 * A workspace has not got what was decided to take from it, or nobody has looked. Nothing of the batch is committed; with
 * the balances known the same commands can be decided again.
 */
public final class BalanceTooLowException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BalanceTooLowException(String message) {
        super(message, null, false, false);
    }
}
