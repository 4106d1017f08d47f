package io.keelson.server.engine.store.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.engine.store.read.FeedReader.Look;
import org.junit.jupiter.api.Test;

/** The watermark from observations of ids and open transactions. */
class FeedWatermarkTest {

    private final FeedWatermark marks = new FeedWatermark();

    @Test
    void oneLookIsEnoughWithoutWriters() {
        assertThat(marks.advance(new Look(7, 100, 100))).isEqualTo(7);
        assertThat(marks.advance(new Look(7, 0, 100))).isEqualTo(7);
    }

    @Test
    void idsOfOpenTransactionsAreNotSettled() {
        assertThat(marks.advance(new Look(7, 100, 100))).isEqualTo(7);
        assertThat(marks.advance(new Look(9, 102, 101))).isEqualTo(7);
        assertThat(marks.advance(new Look(12, 105, 101))).isEqualTo(7);
        assertThat(marks.advance(new Look(12, 0, 103))).isEqualTo(9);
        assertThat(marks.advance(new Look(12, 0, 105))).isEqualTo(12);
    }

    @Test
    void howeverLongItStaysOpenTheLastLookCounts() {
        assertThat(marks.advance(new Look(1, 10, 10))).isEqualTo(1);
        for (int i = 0; i < 10_000; i++) {
            assertThat(marks.advance(new Look(2 + i, 12 + i, 11))).isEqualTo(1);
        }
        assertThat(marks.advance(new Look(10_001, 0, 20_000))).isEqualTo(10_001);
    }
}
