package io.keelson.server.api.http.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Chunks without a reader stay within the cache's limit, for events of any size. */
class FeedChunkCacheTest {

    private static final int MAX = 100_000;

    private final FeedChunkCache texts = new FeedChunkCache(MAX);
    private final AtomicInteger reads = new AtomicInteger();
    private final UUID workspace = UUID.randomUUID();

    private void read(long stretch, int size) throws InterruptedException {
        List<FeedChunkCache.Piece> pieces = texts.of(workspace, stretch, stretch + 1, () -> {
            reads.incrementAndGet();
            return List.of(event(stretch + 1, size));
        });
        assertThat(pieces).singleElement()
                .satisfies(piece -> assertThat(piece.text().length).isGreaterThanOrEqualTo(size));
        assertThat(texts.bytes()).isBetween(0L, (long) MAX);
    }

    private static ObjectNode event(long id, int size) {
        ObjectNode event = Json.object().put("id", id).put("run_id", UUID.randomUUID().toString())
                .put("seq", id).put("event_type", "run_progress").putNull("task_id").putNull("agent_id");
        event.putObject("payload").put("text", "x".repeat(size));
        return event;
    }

    @Test
    void latestEntriesAreKeptUpToTheLimit() throws Exception {
        for (int i = 0; i < 20; i++) {
            read(i, 20_000);
        }
        assertThat(reads).hasValue(20);
        read(19, 20_000);
        read(18, 20_000);
        assertThat(reads).as("the last are there").hasValue(20);
        read(0, 20_000);
        assertThat(reads).as("the first had to go").hasValue(21);
    }

    @Test
    void chunkLargerThanTheCacheIsNotKept() throws Exception {
        read(0, 10_000);
        read(1, 2 * MAX);
        assertThat(texts.bytes()).isZero();
        read(1, 2 * MAX);
        assertThat(reads).hasValue(3);
    }
}
