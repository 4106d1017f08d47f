package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FrameTest {

    @Test
    void theFirstFrameMovesNothing() {
        assertThat(Frame.redraw(0, List.of("one"))).isEqualTo("one\u001b[K\r\n\u001b[J");
    }

    @Test
    void nextFrameReplacesTheLast() {
        assertThat(Frame.redraw(2, List.of("1"))).startsWith("\r\u001b[2A1\u001b[K");
    }

    @Test
    void aResizedScreenIsDrawnFromItsTop() {
        assertThat(Frame.fromTop(List.of("z"))).isEqualTo("\u001b[Hz\u001b[K\r\n\u001b[J");
    }
}
