package io.keelson.client.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.Progress;
import io.keelson.client.Json;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ProgressBufferTest {

    private final ProgressBuffer progressBuffer = new ProgressBuffer(UUID.randomUUID(), 1);

    @Test
    void returnedEntriesComeFirst() {
        progressBuffer.log("a");
        progressBuffer.details(Json.of(1));
        progressBuffer.progress(new Progress(0.5, "p1"));
        Heartbeat lost = progressBuffer.take();
        progressBuffer.log("b");
        progressBuffer.details(Json.of(2));

        progressBuffer.putBack(lost);

        assertThat(progressBuffer.take())
                .isEqualTo(progressBuffer.empty().with(new Progress(0.5, "p1"), List.of("a", "b"), Json.of(2)));
        assertThat(progressBuffer.isEmpty()).isTrue();
    }

    @Test
    void keepsTheLatestThousandLines() {
        for (int i = 0; i < 1_500; i++) {
            progressBuffer.log("line " + i);
        }
        Heartbeat lost = progressBuffer.take();
        progressBuffer.log("last");

        progressBuffer.putBack(lost);

        assertThat(lost.logs()).hasSize(1_000).startsWith("line 500");
        assertThat(progressBuffer.take().logs()).hasSize(1_000).startsWith("line 501").endsWith("last");
    }
}
