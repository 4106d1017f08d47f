package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FrameTest {

    @Test
    void theFirstFrameMovesNothing() {
        assertThat(Frame.redraw(List.of(), List.of("one"), 80)).isEqualTo("one\u001b[K\r\n\u001b[J");
    }

    @Test
    void theNextFrameStandsWhereTheLastStood() {
        assertThat(Frame.redraw(List.of("one", ""), List.of("1"), 80)).startsWith("\r\u001b[2A1\u001b[K");
    }

    @Test
    void linesThatANarrowerTerminalHasWrappedAreClearedToo() {
        assertThat(Frame.redraw(List.of("x".repeat(100), "y"), List.of("z"), 40)).startsWith("\r\u001b[4A");
    }
}
