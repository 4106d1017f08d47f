package io.keelson.core.money;

/**
 * What decisions know about money.
 *
 * @param prices in force
 * @param balances what workspaces have to spend
 */
public record Funds(Prices prices, CreditBalances balances) {

    /** Nothing has a price, and whatever is reported can be paid. */
    public static final Funds UNLIMITED = new Funds(Prices.NONE, CreditBalances.BOTTOMLESS);
}
