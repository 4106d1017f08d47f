package io.keelson.client.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressBufferTest {

    private final ProgressBuffer progressBuffer = new ProgressBuffer();

    @Test
    void returnedEntriesComeFirst() {
        progressBuffer.log("a");
        progressBuffer.details(Json.of(1));
        progressBuffer.progress(Json.of("p1"));
        ProgressUpdate lost = progressBuffer.take();
        progressBuffer.log("b");
        progressBuffer.details(Json.of(2));

        progressBuffer.putBack(lost);

        assertThat(progressBuffer.take())
                .isEqualTo(new ProgressUpdate(Json.of("p1"), Json.of(2), null, List.of("a", "b")));
        assertThat(progressBuffer.isEmpty()).isTrue();
    }

    @Test
    void keepsTheLatestThousandLines() {
        for (int i = 0; i < 1_500; i++) {
            progressBuffer.log("line " + i);
        }
        ProgressUpdate lost = progressBuffer.take();
        progressBuffer.log("last");

        progressBuffer.putBack(lost);

        assertThat(lost.logs()).hasSize(1_000).startsWith("line 500");
        assertThat(progressBuffer.take().logs()).hasSize(1_000).startsWith("line 501").endsWith("last");
    }
}
