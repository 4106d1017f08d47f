package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorTextTest {

    /** The texts have {@code |} for line breaks. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"no such city; no such city",
            "exit code 1: reading|Traceback:|  File x|ValueError: no city; exit code 1: reading … ValueError: no city",
            "exit code 1: file.mjs:3|  throw x|Error: no city|    at run (file.mjs:3)|Node.js v20; exit code 1: file.mjs:3 … Error: no city",
            "exit code 1: Exception in thread \"main\" a.B|\tat c.D|Caused by: java.io.IOException: gone|\tat e.F; exit code 1: Exception in thread \"main\" a.B … Caused by: java.io.IOException: gone",
            "exit code 3: one|two|three; exit code 3: one … three"})
    void shortenedHasTheBeginAndTheLineThatNamesTheError(String message, String line) {
        assertThat(ErrorText.line("FAILED", message.replace('|', '\n'))).isEqualTo("FAILED: " + line);
    }

    @Test
    void codeStandsAloneWithoutAMessage() {
        assertThat(List.of(ErrorText.line("FAILED", null), ErrorText.line("FAILED", "")))
                .containsExactly("FAILED", "FAILED");
    }

    @Test
    void blockKeepsLinesAndIndentation() {
        assertThat(ErrorText.block("a: b\n  at c\n\td\u001b[2J", 0)).containsExactly("a: b", "    at c",
                "      d [2J");
    }
}
