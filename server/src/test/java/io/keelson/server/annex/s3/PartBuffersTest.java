package io.keelson.server.annex.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.ArtifactRefusedException;
import io.keelson.server.base.artifact.StoreBusyException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PartBuffersTest {

    private static final UUID FIRST = new UUID(0, 1);
    private static final UUID SECOND = new UUID(0, 2);
    private static final int LARGE = PartBuffers.SMALL_BYTES + 1;
    private static final Duration LONG = Duration.ofMinutes(1);

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 16 << 10, 256 << 10, (256 << 10) + 1, (8 << 20) - 1, 8 << 20, (8 << 20) + 1})
    void buffersReturnContentInParts(int length) throws IOException {
        InputStream content = content(length);
        int total = 0;
        try (PartBuffers.Buffer buffer = new PartBuffers(1L << 30).open(FIRST)) {
            int first = buffer.fill(content);
            assertThat(first).isEqualTo(Math.min(length, PartBuffers.PART_BYTES));
            total = first + (first == PartBuffers.PART_BYTES ? buffer.fill(content) : 0);
        }
        assertThat(total).isEqualTo(length);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 8, 32})
    void oneWorkspaceLeavesLargeBuffersToOthers(int number) throws IOException {
        PartBuffers buffers = new PartBuffers(number, new PartBuffers.Times(Duration.ZERO, LONG));
        List<PartBuffers.Buffer> held = new ArrayList<>();
        for (int i = 0; i < number - Math.max(1, number / 4); i++) {
            held.add(buffers.open(FIRST));
            held.getLast().fill(content(LARGE));
        }
        try (PartBuffers.Buffer further = buffers.open(FIRST)) {
            assertThatThrownBy(() -> further.fill(content(LARGE))).isInstanceOf(StoreBusyException.class)
                    .hasMessageContaining("of this workspace");
            int small = PartBuffers.SMALL_BYTES - 1;
            assertThat(buffers.open(FIRST).fill(content(small))).isEqualTo(small);
        }
        for (int i = held.size(); i < number; i++) {
            held.add(buffers.open(SECOND));
            assertThat(held.getLast().fill(content(LARGE))).isEqualTo(LARGE);
        }
        try (PartBuffers.Buffer further = buffers.open(new UUID(0, 3))) {
            assertThatThrownBy(() -> further.fill(content(LARGE))).isInstanceOf(StoreBusyException.class)
                    .hasMessageContaining("to this server");
        }
        held.forEach(PartBuffers.Buffer::close);
        try (PartBuffers.Buffer again = buffers.open(FIRST)) {
            assertThat(again.fill(content(LARGE))).isEqualTo(LARGE);
        }
    }

    /** A client that sends a large beginning, and then a byte when the test says so. */
    private static final class Client extends InputStream {
        private final Semaphore sent = new Semaphore(0);
        private int beginning = LARGE;

        @Override
        public int read() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int read(byte[] bytes, int from, int length) {
            int read = Math.min(length, Math.max(1, beginning));
            if (beginning == 0) {
                sent.acquireUninterruptibly();
            } else {
                beginning -= read;
            }
            return read;
        }

        boolean isAwaited() {
            return sent.hasQueuedThreads();
        }
    }

    @Test
    void slowUploadEndsOnlyWhenAnotherOneWaits() {
        PartBuffers buffers = new PartBuffers(2, new PartBuffers.Times(LONG, Duration.ZERO));
        Client client = new Client();
        PartBuffers.Buffer slow = buffers.open(FIRST);
        CompletableFuture<Throwable> end =
                CompletableFuture.supplyAsync(() -> failure(slow, client), Thread::startVirtualThread);
        Awaitility.await().until(client::isAwaited);
        client.sent.release();
        Awaitility.await().until(() -> client.isAwaited() && client.sent.availablePermits() == 0);
        assertThat(end).isNotDone();

        CompletableFuture<Integer> next = CompletableFuture.supplyAsync(() -> {
            try (PartBuffers.Buffer waiting = buffers.open(FIRST)) {
                return waiting.fill(content(LARGE));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }, Thread::startVirtualThread);
        Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> {
            client.sent.release();
            return end.isDone();
        });
        assertThat(end.join()).isInstanceOfSatisfying(ArtifactRefusedException.class,
                e -> assertThat(e.code()).isEqualTo("UPLOAD_TOO_SLOW"));
        slow.close();
        assertThat(next.join()).isEqualTo(LARGE);
    }

    private static Throwable failure(PartBuffers.Buffer buffer, InputStream body) {
        try {
            return new AssertionError(buffer.fill(body));
        } catch (IOException e) {
            return e;
        }
    }

    private static InputStream content(int length) {
        return new ByteArrayInputStream(new byte[length]);
    }
}
