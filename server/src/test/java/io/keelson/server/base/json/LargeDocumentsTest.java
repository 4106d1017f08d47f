package io.keelson.server.base.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class LargeDocumentsTest {
    private static final byte[] LARGE = ("[" + "1,".repeat(40_000) + "1]").getBytes(StandardCharsets.UTF_8);

    @Test
    void largeDocumentWaitsForAProcessorAndASmallOneDoesNot() throws Exception {
        int bound = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        CountDownLatch begun = new CountDownLatch(bound);
        CountDownLatch end = new CountDownLatch(1);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> working = new ArrayList<>();
            for (int i = 0; i < bound; i++) {
                working.add(threads.submit(() -> LargeDocuments.work(LARGE.length, () -> {
                    begun.countDown();
                    end.await();
                    return null;
                })));
            }
            begun.await();
            CompletableFuture<JsonNode> read = new CompletableFuture<>();
            Thread reader = Thread.ofVirtual().start(() -> read.complete(OutsideJson.read(LARGE)));
            Awaitility.await().until(() -> reader.getState() == Thread.State.WAITING);

            assertThat(OutsideJson.read("[1]".getBytes(StandardCharsets.UTF_8))).hasSize(1);
            assertThat(read).isNotDone();
            end.countDown();
            assertThat(read.get()).hasSize(40_001);
            for (Future<?> each : working) {
                each.get();
            }
        }
    }
}
