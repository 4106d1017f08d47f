package io.keelson.server.engine.store;

/**
 * A workspace's balance, or the changed slot of the balance, is too low, or was not read. Nothing of the batch is
 * committed; the commands can be decided again with known balances.
 */
public final class BalanceTooLowException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BalanceTooLowException(String message) {
        super(message, null, false, false);
    }
}
