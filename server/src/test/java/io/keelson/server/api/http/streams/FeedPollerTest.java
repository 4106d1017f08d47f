package io.keelson.server.api.http.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.support.ShutdownSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FeedPollerTest {
    private static final int FOLLOWERS = 500;
    private static final Duration LONG = Duration.ofMinutes(1);

    @Test
    void allOfManyFollowersAreWokenByEachNews() throws Exception {
        AtomicLong settled = new AtomicLong(1);
        FeedPoller poller = new FeedPoller(settled::get, new ShutdownSignal());
        List<FeedPoller.Watch> watches = new ArrayList<>();
        for (int i = 0; i < FOLLOWERS; i++) {
            watches.add(poller.watch());
        }
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (long id : List.of(1L, 2L, 3L)) {
                List<Future<Long>> found =
                        watches.stream().map(watch -> clients.submit(() -> watch.await(id, LONG))).toList();
                settled.set(id);
                for (Future<Long> each : found) {
                    assertThat(each.get(1, TimeUnit.MINUTES)).isEqualTo(id);
                }
            }
        }
        watches.forEach(FeedPoller.Watch::close);
    }

    @Test
    void theIntervalGrowsWithManyFollowers() {
        assertThat(List.of(1, 400, 2_000).stream().map(FeedPoller::interval)).containsExactly(Duration.ofMillis(100),
                Duration.ofMillis(100), Duration.ofMillis(500));
    }
}
