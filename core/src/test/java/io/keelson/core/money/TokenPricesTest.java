package io.keelson.core.money;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenPricesTest {

    @ParameterizedTest
    @CsvSource(nullValues = "-", value = {
            // prices of input, cache read, cache write, output; tokens of each; credits
            "3, 0.3, 3.75, 15,   1000, 0, 0, 0,         0.003",
            "3, 0.3, 3.75, 15,   0, 1000, 0, 0,         0.0003",
            "3, 0.3, 3.75, 15,   0, 0, 1000, 0,         0.00375",
            "3, 0.3, 3.75, 15,   0, 0, 0, 1000,         0.015",
            "3, 0.3, 3.75, 15,   812, 14336, 2048, 977, 0.0290718",
            // without a price of their own, cached tokens have that of input
            "2, -, -, 8,         100, 200, 300, 10,     0.00128",
            "2, 0.5, -, 8,       100, 200, 300, 10,     0.00098",
            "2, -, 0, 8,         100, 200, 300, 10,     0.00068",
            // nothing is rounded: the sum of a run's costs is, once
            "0.2, 0.2, 0.2, 0.2, 1, 1, 1, 0,            0.0000006",
            "0.1, 0.1, 0.1, 0.1, 1, 1, 1, 1,            0.0000004",
            "0.000001, -, -, 0,  1, 0, 0, 0,            0.000000000001",
            "0, 0, 0, 0,         9, 9, 9, 9,            0",
            // neither value is a binary fraction, and the product has 21 digits
            "0.000001, -, -, 999999.999999, 1, 0, 0, 999999999999, 999999999998.000000000002",
            "0.1, 0.7, 0.3, 0.9, 100000000, 100000000, 100000000, 100000000, 200"})
    void costIsExact(BigDecimal input, BigDecimal read, BigDecimal write, BigDecimal output, long used, long cached,
            long kept, long written, BigDecimal cost) {
        TokenPrices prices = new TokenPrices(input, read, write, output);

        assertThat(prices.cost(new Tokens(used, cached, kept, written, 0))).isEqualTo(Amounts.exact(cost));
        assertThat(prices.cost(new Tokens(used, cached, kept, written, written))).isEqualTo(Amounts.exact(cost));
    }

    @Test
    void costEqualsIntegersOfMillionthsOfMillionths() {
        Random random = new Random(7);
        for (int i = 0; i < 10_000; i++) {
            long[] price = random.longs(4, 0, 100_000_000L).toArray();
            long[] used = random.longs(4, 0, 10_000_000L).toArray();
            BigInteger sum = BigInteger.ZERO;
            for (int part = 0; part < 4; part++) {
                sum = sum.add(BigInteger.valueOf(price[part]).multiply(BigInteger.valueOf(used[part])));
            }
            TokenPrices prices = new TokenPrices(usd(price[0]), usd(price[1]), usd(price[2]), usd(price[3]));

            assertThat(prices.cost(new Tokens(used[0], used[1], used[2], used[3], 0)))
                    .isEqualByComparingTo(new BigDecimal(sum, 12));
        }
    }

    private static BigDecimal usd(long millionths) {
        return BigDecimal.valueOf(millionths, 6);
    }

    @Test
    void noTokenIsInTwoParts() {
        Tokens tokens = new Tokens(1, 20, 300, 4000, 3000);

        assertThat(tokens.total()).isEqualTo(4321);
        assertThat(tokens.plus(tokens)).isEqualTo(new Tokens(2, 40, 600, 8000, 6000));
        assertThat(tokens.members()).isEqualTo(
                Map.of("input", 1L, "cache_read", 20L, "cache_write", 300L, "output", 4000L, "reasoning", 3000L));
        assertThat(Tokens.undivided(5)).isEqualTo(new Tokens(0, 0, 0, 5, 0));
    }

    @ParameterizedTest
    @CsvSource({"-1, 0, 0, 0, 0", "0, -1, 0, 0, 0", "0, 0, -1, 0, 0", "0, 0, 0, -1, -1", "0, 0, 0, 1, 2",
            "0, 0, 0, 1, -1"})
    void impossibleTokensAreRefused(long input, long read, long write, long output, long reasoning) {
        assertThatThrownBy(() -> new Tokens(input, read, write, output, reasoning))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", value = {"1, 1.0, true", "1, 2, false", "-, -, true", "-, 1, false", "1, -, false"})
    void equalPricesAreTheSameRegardlessOfPlaces(BigDecimal one, BigDecimal other, boolean same) {
        BigDecimal two = new BigDecimal("2");
        assertThat(new TokenPrices(two, one, null, two).same(new TokenPrices(two, other, null, two))).isEqualTo(same);
        assertThat(new TokenPrices(two, null, one, two).same(new TokenPrices(two, null, other, two))).isEqualTo(same);
    }
}
