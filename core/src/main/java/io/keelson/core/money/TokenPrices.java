package io.keelson.core.money;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Prices of a million tokens of a model, in credits, each ≥ 0. Reasoning has the price of output.
 *
 * @param cacheRead null for the price of input
 * @param cacheWrite null for the price of input
 */
public record TokenPrices(BigDecimal input, @Nullable BigDecimal cacheRead, @Nullable BigDecimal cacheWrite,
        BigDecimal output) {

    private static final int MILLION = 6;

    /** Prices with one amount for each kind of token. */
    public static TokenPrices flat(BigDecimal usd) {
        return new TokenPrices(usd, null, null, usd);
    }

    /** The cost in credits, {@linkplain Amounts#exact exact}. */
    public BigDecimal cost(Tokens tokens) {
        BigDecimal millionth = cost(input, tokens.input())
                .add(cost(Objects.requireNonNullElse(cacheRead, input), tokens.cacheRead()))
                .add(cost(Objects.requireNonNullElse(cacheWrite, input), tokens.cacheWrite()))
                .add(cost(output, tokens.output()));
        return Amounts.exact(millionth.movePointLeft(MILLION));
    }

    /** The highest cost in credits of so many tokens, for any part of the input that the provider's cache has or keeps. */
    public BigDecimal atMost(long input, long output) {
        return Amounts.exact(cost(dearestInput(), input).add(cost(this.output, output)).movePointLeft(MILLION));
    }

    /** Tokens at the highest price: all input counts as its most expensive part. */
    public Tokens dearest(long input, long output) {
        BigDecimal most = dearestInput();
        boolean plain = this.input.compareTo(most) == 0;
        boolean written = cacheWrite != null && cacheWrite.compareTo(most) == 0;
        return plain ? new Tokens(input, 0, 0, output, 0)
                : written ? new Tokens(0, 0, input, output, 0) : new Tokens(0, input, 0, output, 0);
    }

    /**
     * The most tokens of output that an amount pays beside the input at its highest cost.
     *
     * @param most not more than these
     * @return below 0 when the amount does not pay the input
     */
    public long output(BigDecimal usd, long input, long most) {
        BigDecimal rest = usd.movePointRight(MILLION).subtract(cost(dearestInput(), input));
        if (rest.signum() < 0) {
            return -1;
        }
        return output.signum() == 0 ? most
                : rest.divide(output, 0, RoundingMode.DOWN).min(BigDecimal.valueOf(most)).longValue();
    }

    private BigDecimal dearestInput() {
        return input.max(Objects.requireNonNullElse(cacheRead, input))
                .max(Objects.requireNonNullElse(cacheWrite, input));
    }

    private static BigDecimal cost(BigDecimal price, long tokens) {
        return price.multiply(BigDecimal.valueOf(tokens));
    }

    /** Whether all prices are equal to the other's; the number of decimal places makes no difference. */
    public boolean same(TokenPrices other) {
        return same(input, other.input) && same(cacheRead, other.cacheRead) && same(cacheWrite, other.cacheWrite)
                && same(output, other.output);
    }

    private static boolean same(@Nullable BigDecimal one, @Nullable BigDecimal other) {
        return one == null || other == null ? one == other : one.compareTo(other) == 0;
    }
}
