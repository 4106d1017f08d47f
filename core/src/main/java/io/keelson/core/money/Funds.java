package io.keelson.core.money;

/**
 * Prices and balances for decisions.
 *
 * @param prices in force
 * @param balances the available credits of workspaces
 */
public record Funds(Prices prices, CreditBalances balances) {

    /** No prices, and every reported cost can be paid. */
    public static final Funds UNLIMITED = new Funds(Prices.NONE, CreditBalances.BOTTOMLESS);
}
