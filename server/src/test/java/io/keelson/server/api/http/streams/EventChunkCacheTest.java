package io.keelson.server.api.http.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** However large events are, neither a stream nor all that is kept for streams takes more memory than it may. */
class EventChunkCacheTest {

    private static final int MAX = 1_000_000;
    private static final int SIZE = 10_000;

    private final EventChunkCache texts = new EventChunkCache(MAX);

    private static List<ObjectNode> events(UUID run, long after, int limit, int size) {
        return LongStream.rangeClosed(after + 1, after + limit).mapToObj(seq -> event(run, seq, size)).toList();
    }

    private static ObjectNode event(UUID run, long seq, int size) {
        ObjectNode event = Json.object().put("seq", seq).put("run_id", run.toString())
                .put("event_type", "run_progress").putNull("task_id").putNull("agent_id");
        event.putObject("payload").put("text", "x".repeat(size));
        return event;
    }

    @Test
    void streamSendsEverythingInSmallChunks() throws Exception {
        UUID run = UUID.randomUUID();
        int sent = 0;
        for (long seen = 0; seen < 100;) {
            EventChunkCache.Part part = texts.of(run, seen, 100, (id, after, limit) -> events(id, after, limit, SIZE));
            assertThat(part.texts().stream().mapToInt(text -> text.length).sum())
                    .isLessThanOrEqualTo(EventChunkCache.PART_BYTES);
            assertThat(part.to()).isEqualTo(seen + part.texts().size());
            seen = part.to();
            sent += part.texts().size();
        }
        assertThat(sent).isEqualTo(100);
    }

    @Test
    void eventLargerThanAChunkIsSentAlone() throws Exception {
        EventChunkCache.Part part = texts.of(UUID.randomUUID(), 0, 3,
                (id, after, limit) -> events(id, after, limit, 2 * EventChunkCache.PART_BYTES));
        assertThat(part.texts()).hasSize(1);
        assertThat(part.to()).isEqualTo(1);
    }

    @Test
    void cacheOfManyRunsStaysWithinItsBound() throws Exception {
        for (int i = 0; i < 50; i++) {
            texts.of(UUID.randomUUID(), 0, 10, (id, after, limit) -> events(id, after, limit, SIZE));
            assertThat(texts.bytes()).isBetween(1L, (long) MAX);
        }
    }
}
