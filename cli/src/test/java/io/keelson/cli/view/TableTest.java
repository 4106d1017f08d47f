package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableTest {

    private static final String ID = "0198a6f2-7c1e-7000-8000-5d1f0c3b2a10";

    @ParameterizedTest
    @ValueSource(ints = {60, 80, 100})
    void noLineIsWiderThanTheTerminal(int columns) {
        Table table = new Table("ITEM", "RUN", "STATE", "NAME")
                .row("step_" + ID, ID, "running", "the quarterly report of everything");
        assertThat(table.lines(new Style(false, true, columns)))
                .allSatisfy(line -> assertThat(TerminalText.width(line)).isLessThanOrEqualTo(columns));
    }

    @Test
    void theWidestColumnsAreShortenedAndIdsThatCommandsTakeAreKept() {
        Table runs = new Table("RUN", "STATE", "NAME").row(ID, "running", "the quarterly report");
        assertThat(runs.lines(new Style(false, true, 51)).getLast())
                .isEqualTo("0198a6f2-7c1e-7000-…  running  the quarterly report");
        Table items = new Table("ITEM", "RUN", "QUESTION").row("step_" + ID, ID, "Publish it today?");
        assertThat(items.lines(new Style(false, true, 81)).getLast())
                .isEqualTo("step_" + ID + "  0198a6f2-7c1e-7000…  Publish it today?");
    }

    @Test
    void pipesGetEverything() {
        Table table = new Table("RUN", "NAME").row(ID, "n".repeat(300));
        assertThat(table.lines(Style.PLAIN).getLast()).endsWith("n".repeat(300));
    }

    @Test
    void columnsWithoutContentAreLeftOutWhereTheTableIsTooWide() {
        Table table = new Table("ITEM", "WHO", "QUESTION").row("a", "", "Publish the release notes?");
        assertThat(table.lines(new Style(false, true, 30))).containsExactly("ITEM  QUESTION",
                "a     Publish the release not…");
        assertThat(table.lines(Style.PLAIN).getFirst()).isEqualTo("ITEM  WHO  QUESTION");
    }
}
