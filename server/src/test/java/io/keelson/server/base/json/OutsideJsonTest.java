package io.keelson.server.base.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;

class OutsideJsonTest {
    private static final UUID ONE = new UUID(0, 1);
    private static final UUID OTHER = new UUID(0, 2);
    private static final int MIB = 1 << 20;

    static Stream<String> beyondABound() {
        return Stream.of("[".repeat(201) + "]".repeat(201), "1".repeat(101), "[" + "1,".repeat(1_999_999) + "1]",
                "[" + "{},".repeat(1_000_000) + "{}]");
    }

    @ParameterizedTest
    @MethodSource
    void beyondABound(String text) {
        assertThatThrownBy(() -> OutsideJson.read(bytes(text))).isInstanceOf(StreamConstraintsException.class);
        assertThatThrownBy(() -> OutsideJson.readStrict(bytes(text))).isInstanceOf(StreamConstraintsException.class);
        assertThatThrownBy(() -> OutsideJson.read(new ByteArrayInputStream(bytes(text)), null))
                .isInstanceOf(StreamConstraintsException.class);
    }

    @Test
    void onlyTheStrictReaderRefusesDuplicateKeys() {
        byte[] twice = bytes("{\"a\":1,\"a\":2}");
        assertThat(OutsideJson.read(twice)).isEqualTo(Json.object().put("a", 2));
        assertThatThrownBy(() -> OutsideJson.readStrict(twice)).isInstanceOf(JacksonException.class);
    }

    /** A tree of empty objects takes some 40 times the memory of its text. */
    @Test
    void treeTakesItsMemoryBeforeItIsMade() throws IOException {
        byte[] objects = bytes("[" + "{},".repeat(8_000) + "{}]");
        DocumentMemory memory = new DocumentMemory(2 * MIB);
        try (DocumentMemory.Share share = memory.share(ONE, Duration.ZERO)) {
            JsonNode tree = share.within(() -> OutsideJson.read(objects));
            assertThat(tree).hasSize(8_001);
            assertThatThrownBy(() -> share.within(() -> OutsideJson.read(objects)))
                    .isInstanceOf(DocumentMemory.FullException.class);
            share.giveBackAll();
            assertThat(share.<JsonNode, RuntimeException>within(() -> OutsideJson.readPassing(objects)))
                    .isEqualTo(tree);
            JsonNode streamed = share.<JsonNode, IOException>within(
                    () -> OutsideJson.read(new ByteArrayInputStream(objects), null));
            assertThat(streamed).isEqualTo(tree);
        }
    }

    /** Two streams that each hold a part of their memory would wait for each other until both time out. */
    @Test
    void streamOfADeclaredLengthTakesItsMemoryBeforeItsFirstByte() throws Exception {
        byte[] text = bytes("\"" + "x".repeat(100_000) + "\"");
        DocumentMemory memory = new DocumentMemory(MIB);
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        AtomicInteger read = new AtomicInteger();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<JsonNode> first = threads.submit(() -> declared(memory, text, () -> {
                begun.countDown();
                end.await();
                return null;
            }));
            begun.await();
            Future<JsonNode> second = threads.submit(() -> declared(memory, text, read::incrementAndGet));
            Awaitility.await().until(() -> memory.waiting() == 1);
            assertThat(read).hasValue(0);
            end.countDown();
            assertThat(first.get()).isEqualTo(second.get());
        }
    }

    private static JsonNode declared(DocumentMemory memory, byte[] text, Callable<?> atTheFirstByte)
            throws IOException {
        try (DocumentMemory.Share share = memory.share(ONE, Duration.ofMinutes(1))) {
            return share.<JsonNode, IOException>within(() -> OutsideJson.read(new ByteArrayInputStream(text) {
                @Override
                public int read(byte[] into) throws IOException {
                    try {
                        atTheFirstByte.call();
                    } catch (Exception e) {
                        throw new IOException(e);
                    }
                    return super.read(into);
                }
            }, String.valueOf(text.length)));
        }
    }

    /** A stream's document is counted as it grows, by what it has and not by what has come. */
    @Test
    void grownTreeTakesTheDifference() {
        DocumentMemory memory = new DocumentMemory(MIB);
        try (DocumentMemory.Share share = memory.share(ONE, Duration.ZERO)) {
            JsonNode small = OutsideJson.read(bytes("[" + "{},".repeat(2_000) + "{}]"));
            JsonNode large = OutsideJson.read(bytes("[" + "{},".repeat(4_000) + "{}]"));
            long kept = share.within(() -> OutsideJson.reserveGrown(small, 0));
            long grown = share.within(() -> OutsideJson.reserveGrown(large, kept));
            assertThat(grown).isBetween(kept + 100_000, 500_000L);
            assertThat(share.<Long, RuntimeException>within(() -> OutsideJson.reserveGrown(small, grown)))
                    .isEqualTo(grown);
            assertThatThrownBy(() -> share.within(() -> OutsideJson.reserveGrown(large, 0)))
                    .isInstanceOf(DocumentMemory.FullException.class);
        }
    }

    @Test
    void workspaceThatHoldsItsMaximumLeavesHalf() {
        DocumentMemory memory = new DocumentMemory(MIB);
        DocumentMemory.Share one = memory.share(ONE, Duration.ZERO);
        one.take(MIB / 2);
        DocumentMemory.Share again = memory.share(ONE, Duration.ZERO);
        assertThatThrownBy(() -> again.take(1)).isInstanceOf(DocumentMemory.FullException.class);
        try (DocumentMemory.Share other = memory.share(OTHER, Duration.ZERO)) {
            other.take(MIB / 4);
        }
        one.close();
        assertThatThrownBy(() -> one.take(1)).as("closed").isInstanceOf(DocumentMemory.FullException.class);
        again.take(MIB / 2);
    }

    /** A path that names a workspace takes its memory, and leaves that of other paths. */
    @Test
    void assignedShareTakesTheMemoryOfItsWorkspace() {
        DocumentMemory memory = new DocumentMemory(MIB);
        DocumentMemory.Share assigned = memory.share(null, Duration.ZERO);
        assigned.assign(ONE);
        assigned.take(MIB / 2);
        try (DocumentMemory.Share open = memory.share(null, Duration.ZERO)) {
            open.take(MIB / 4);
        }
        assertThatThrownBy(() -> memory.share(ONE, Duration.ZERO).take(1))
                .isInstanceOf(DocumentMemory.FullException.class);
        assertThatThrownBy(() -> assigned.assign(OTHER)).isInstanceOf(IllegalStateException.class);
        assigned.close();
        memory.share(ONE, Duration.ZERO).take(MIB / 2);
    }

    @Test
    void waitsForMemoryThatIsGivenBack() throws Exception {
        DocumentMemory memory = new DocumentMemory(MIB);
        DocumentMemory.Share first = memory.share(ONE, Duration.ZERO);
        first.take(MIB / 2);
        DocumentMemory.Share second = memory.share(ONE, Duration.ofMinutes(1));
        Thread waiting = Thread.ofVirtual().start(() -> second.take(MIB / 2));
        while (waiting.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        first.close();
        waiting.join();
        assertThatThrownBy(() -> memory.share(ONE, Duration.ZERO).take(1))
                .isInstanceOf(DocumentMemory.FullException.class);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
