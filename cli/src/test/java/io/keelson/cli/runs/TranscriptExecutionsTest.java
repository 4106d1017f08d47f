package io.keelson.cli.runs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The executions of a step in the lines of its requests to models. */
class TranscriptExecutionsTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            1 | 1 | ''
            1 | 3 | ', execution 1 of 3, later ones are answered from the record'
            3 | 3 | ', execution 3 of 3'
            """)
    void requestSaysWhichExecutionHasBoughtItsAnswer(int epoch, int executions, String text) {
        assertThat(TranscriptCommand.execution(epoch, executions)).isEqualTo(text);
    }
}
