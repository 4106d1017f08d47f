package io.keelson.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.client.RunFilter;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The language of {@code --where}. */
class FilterParserTest {

    @Test
    void conditionsAddUp() {
        assertThat(FilterParser.parse("state=failed tag=nightly tag=\"a b\" error=TIMEOUT  created>2026-01-01 "
                + "created<2026-02-01T12:00:00+01:00 text=\"x = y\"")).isEqualTo(
                        RunFilter.all().state("failed").tag("nightly").tag("a b").errorCode("TIMEOUT").text("x = y")
                                .createdAfter(Instant.parse("2026-01-01T00:00:00Z"))
                                .createdBefore(Instant.parse("2026-02-01T11:00:00Z")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "''                        | character 1: a condition such as",
            "state=failed colour=red   | character 14: unknown condition 'colour'",
            "state>failed              | character 1: state requires =",
            "created=2026-01-01        | character 1: created requires > or <",
            "created>yesterday         | character 1: 'yesterday' is not a time",
            "state=failed state=paused | character 14: state is given twice",
            "tag=\"                    | character 1: a condition such as",
            "tag=\"\"                  | character 1: the value of tag is empty",
            "tag=a\"b                  | character 1: a condition such as",
            "state=failed or           | character 14: a condition such as"})
    void problemsHavePositions(String text, String message) {
        assertThatThrownBy(() -> FilterParser.parse(text)).isInstanceOf(CliException.class)
                .hasMessageContaining(message);
    }
}
