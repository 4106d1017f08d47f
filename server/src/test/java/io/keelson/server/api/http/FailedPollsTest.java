package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.streams.FeedPoller;
import io.keelson.server.api.http.streams.RunProgressPoller;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.engine.store.read.RunReader.Progress;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Followers still get notifications after a failed poll of the database. */
class FailedPollsTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    private final AtomicInteger looks = new AtomicInteger();

    private void failFirst() {
        if (looks.getAndIncrement() == 0) {
            throw new IllegalStateException("as a test has it");
        }
    }

    @Test
    void ofTheFeed() throws Exception {
        FeedPoller poller = new FeedPoller(() -> {
            failFirst();
            return 7;
        }, new ShutdownSignal());

        try (FeedPoller.Watch watch = poller.watch()) {
            assertThat(watch.await(7, LONG)).isEqualTo(7);
        }
    }

    @Test
    void ofRuns() throws Exception {
        UUID run = UUID.randomUUID();
        RunProgressPoller poller = new RunProgressPoller(watched -> {
            failFirst();
            return Map.of(run, new Progress(3, false));
        }, new ShutdownSignal());

        try (RunProgressPoller.Watch watch = poller.watch(run, new Progress(1, false))) {
            assertThat(watch.await(1, LONG).lastSeq()).isEqualTo(3);
        }
    }
}
