package io.keelson.core.money;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AmountsTest {

    @ParameterizedTest
    @CsvSource({"0, 4, 0 0 0 0", "10, 4, 2.5 2.5 2.5 2.5", "0.000003, 4, 0.000003 0 0 0",
            "0.000007, 4, 0.000004 0.000001 0.000001 0.000001", "1, 3, 0.333334 0.333333 0.333333", "7.25, 1, 7.25"})
    void anAmountIsSplitIntoEqualPartsWithoutARest(BigDecimal amount, int parts, String expected) {
        List<BigDecimal> split = Amounts.split(Amounts.of(amount), parts);

        assertThat(split).containsExactlyElementsOf(
                Stream.of(expected.split(" ")).map(BigDecimal::new).map(Amounts::of).toList());
        assertThat(split.stream().reduce(Amounts.ZERO, BigDecimal::add)).isEqualTo(Amounts.of(amount));
    }
}
