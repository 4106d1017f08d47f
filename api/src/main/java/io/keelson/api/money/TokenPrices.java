package io.keelson.api.money;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * Prices of a million tokens of a model, in credits, each from 0 with at most 6 decimal places. Reasoning has the price
 * of output.
 *
 * @param input of input that the provider's cache neither had nor kept
 * @param cacheRead of input from the provider's cache; null for the price of input
 * @param cacheWrite of input that the provider's cache kept; null for the price of input
 * @param output of output, reasoning included
 */
public record TokenPrices(BigDecimal input, @Nullable BigDecimal cacheRead, @Nullable BigDecimal cacheWrite,
        BigDecimal output) {

    /** Cached tokens have the price of input. */
    public TokenPrices(BigDecimal input, BigDecimal output) {
        this(input, null, null, output);
    }
}
