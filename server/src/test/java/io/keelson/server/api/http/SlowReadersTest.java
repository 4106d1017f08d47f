package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Lapse;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that read event streams slowly, and clients that send the head of a request slowly, beside clients that create runs. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@Breadth.InPart(2)
class SlowReadersTest {

    private static final int READERS = Breadth.of(100, 2_000);
    private static final int SENDERS = Breadth.of(50, 500);
    private static final int RUNS = Breadth.of(40, 600);
    /** Twenty runs a second. */
    private static final Duration PACE = Duration.ofMillis(50);
    private static final Duration BYTE_PACE = Duration.ofSeconds(1);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    /** Below it, latencies of a busy machine differ by chance. */
    private static final Duration SHORT = Duration.ofMillis(Breadth.of(2_000, 250));
    private static final int PIECE = 64;
    private static final String MISSION = """
            {"name": "short", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
              {"name": "a", "tool": "noop"}, {"name": "b", "tool": "noop"}, {"name": "c", "tool": "noop"}]}]}}""";

    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicInteger streaming = new AtomicInteger();
    private final Collection<Socket> slow = new ConcurrentLinkedQueue<>();
    private final Collection<Thread> clients = new ConcurrentLinkedQueue<>();

    @Test
    void slowClientsDoNotDelayTheOthers(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            latency(api);
            Duration before = latency(api);
            try {
                for (int i = 0; i < READERS; i++) {
                    clients.add(Thread.ofVirtual().start(() -> read(api)));
                }
                for (int i = 0; i < SENDERS; i++) {
                    clients.add(Thread.ofVirtual().start(() -> send(api)));
                }
                Duration begin = processor();
                Duration connecting = latency(api);
                Awaitility.await().atMost(LIMIT).until(() -> streaming.get() == READERS);
                Duration connected = processor();
                Duration beside = latency(api);
                Duration more = connected.minus(begin).minus(processor().minus(connected));
                System.out.printf(
                        "slow clients: %d readers, %d still connected, %d senders; p99 %d ms before, %d ms while"
                                + " they connect, which takes %d ms of processor time, %d ms then, load %.1f%n",
                        READERS, streaming.get(),
                        SENDERS, before.toMillis(), connecting.toMillis(), more.toMillis(), beside.toMillis(),
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
                assertThat(beside).isLessThanOrEqualTo(before.multipliedBy(2).compareTo(SHORT) > 0
                        ? before.multipliedBy(2)
                        : SHORT);
            } finally {
                end();
            }
        }
    }

    /** The 99th percentile of the times from the moments at which runs are due to the answers to their creation. */
    private static Duration latency(ApiServer api) throws InterruptedException {
        Collection<Long> nanos = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < RUNS; i++) {
            long due = begin + i * PACE.toNanos();
            threads.add(Thread.ofVirtual().start(() -> {
                Lapse.of(Duration.ofNanos(due - System.nanoTime()));
                if (api.post("/api/v1/runs", MISSION).status() == 201) {
                    nanos.add(System.nanoTime() - due);
                }
            }));
        }
        for (Thread each : threads) {
            each.join();
        }
        assertThat(nanos).hasSize(RUNS);
        return Duration.ofNanos(nanos.stream().sorted().skip(RUNS * 99L / 100).findFirst().orElseThrow());
    }

    /** The time of processors that server and clients have taken, which other programs do not change much. */
    private static Duration processor() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private Socket connect(ApiServer api) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4_096);
        socket.connect(new InetSocketAddress(api.url().getHost(), api.url().getPort()));
        slow.add(socket);
        return socket;
    }

    /** Reads some bytes of a stream each second. */
    private void read(ApiServer api) {
        boolean counted = false;
        try (Socket socket = connect(api)) {
            socket.getOutputStream()
                    .write(("GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                            + api.key() + "\r\nAccept: text/event-stream\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            while (!ended.get()) {
                String piece = new String(in.readNBytes(PIECE), StandardCharsets.UTF_8);
                if (!counted) {
                    assertThat(piece).startsWith("HTTP/1.1 200 ");
                    streaming.incrementAndGet();
                    counted = true;
                }
                Lapse.of(BYTE_PACE);
            }
        } catch (IOException e) {
            // the server, or the test, has closed it
        } finally {
            if (counted) {
                streaming.decrementAndGet();
            }
        }
    }

    /** Sends a byte of the head of a request each second. */
    private void send(ApiServer api) {
        try (Socket socket = connect(api)) {
            socket.getOutputStream().write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
                    .getBytes(StandardCharsets.US_ASCII));
            while (!ended.get()) {
                socket.getOutputStream().write('a');
                Lapse.of(BYTE_PACE);
            }
        } catch (IOException e) {
            // the server, or the test, has closed it
        }
    }

    private void end() throws Exception {
        ended.set(true);
        for (Socket each : slow) {
            each.close();
        }
        for (Thread each : clients) {
            each.interrupt();
            each.join();
        }
    }
}
