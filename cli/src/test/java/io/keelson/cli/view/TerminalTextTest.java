package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TerminalTextTest {

    private static final Style COLORS = new Style(true, true, 0);

    @ParameterizedTest
    @CsvSource({"abc, 3", "'', 0", "日本, 4", "é, 1", "👍, 2"})
    void widths(String text, int columns) {
        assertThat(TerminalText.width(text)).isEqualTo(columns);
        assertThat(TerminalText.width(COLORS.red(text))).isEqualTo(columns);
    }

    @ParameterizedTest
    @CsvSource({"abcdef, 6, abcdef", "abcdef, 5, abcd…", "abcdef, 1, …", "abcdef, 0, ''", "日本語, 5, 日本…", "日本語, 4, 日…"})
    void fitsAreNeverWider(String text, int columns, String fitted) {
        assertThat(TerminalText.fit(text, columns, Style.PLAIN)).isEqualTo(fitted);
        assertThat(TerminalText.width(TerminalText.fit(text, columns, Style.PLAIN))).isLessThanOrEqualTo(columns);
    }

    @ParameterizedTest
    @CsvSource({"one two three, 0, one two three", "one two three, 13, one two three",
            "one two three, 8, one two|  three",
            "one two three, 5, one|  two|  thr|  ee", "日本 日本, 6, 日本|  日本"})
    void linesBreakBetweenWords(String text, int columns, String lines) {
        assertThat(String.join("|", TerminalText.wrap(text, columns, "  "))).isEqualTo(lines);
    }

    @Test
    void aCutTextDoesNotBleedItsColor() {
        assertThat(TerminalText.fit(COLORS.red("abcdef"), 3, COLORS)).isEqualTo("\u001b[31mab…\u001b[0m");
    }

    @Test
    void foreignTextCannotReachTheTerminal() {
        assertThat(TerminalText.clean("a\u001b[2Jb\r\nc\u202Ed\u0000\u009b31m")).isEqualTo("a [2Jb  c d  31m");
    }
}
