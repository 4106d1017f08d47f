package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Lapse;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
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
    /** Below it, latencies of a busy machine differ by chance. */
    private static final Duration SHORT = Duration.ofMillis(Breadth.of(2_000, 250));
    private static final String MISSION = """
            {"name": "short", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
              {"name": "a", "tool": "noop"}, {"name": "b", "tool": "noop"}, {"name": "c", "tool": "noop"}]}]}}""";

    @Test
    void slowClientsDoNotDelayTheOthers(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder);
                SlowClients slow = new SlowClients(api.url(), api.key(), READERS, SENDERS)) {
            latency(api);
            Duration before = latency(api);
            Duration begin = processor();
            slow.connect();
            Duration connecting = latency(api);
            slow.awaitStreams();
            Duration connected = processor();
            Duration beside = latency(api);
            Duration more = connected.minus(begin).minus(processor().minus(connected));
            System.out.printf(
                    "slow clients: %d readers, %d still connected, %d senders; p99 %d ms before, %d ms while they connect,"
                            + " which takes the server %d ms of processor time, %d ms then, load %.1f%n",
                    READERS, slow.streaming(), SENDERS, before.toMillis(), connecting.toMillis(), more.toMillis(),
                    beside.toMillis(), ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
            assertThat(beside).isLessThanOrEqualTo(before.multipliedBy(2).compareTo(SHORT) > 0
                    ? before.multipliedBy(2)
                    : SHORT);
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

    /** The time of processors that this process has taken: the server, and the clients that create runs. */
    private static Duration processor() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }
}
