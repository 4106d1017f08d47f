package io.keelson.cli.authoring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ToolsCommandTest {

    @Test
    void workerToolThatSaysNothingHasEmptyCells() {
        assertThat(ToolsCommand.orEmpty(null)).isEmpty();
        assertThat(ToolsCommand.orEmpty("Says it again.")).isEqualTo("Says it again.");
    }
}
