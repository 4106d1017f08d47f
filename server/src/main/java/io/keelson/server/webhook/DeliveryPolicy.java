package io.keelson.server.webhook;

import java.time.Duration;
import java.util.List;

/**
 * How deliveries are sent.
 *
 * @param timeout of one request
 * @param lease longer than an attempt may take, which has two requests where a connection broke off
 * @param delays after each failed attempt; after the last the delivery is dead
 * @param turn how many are delivered before the endpoint is let go, so that all have their turn
 * @param patience with an endpoint that takes nothing; then it is disabled
 * @param most deliveries that may wait at one that takes nothing; with more it is disabled
 */
record DeliveryPolicy(Duration timeout, Duration lease, List<Duration> delays, int turn, Duration patience, int most) {

    /** Some three days in all. */
    static final DeliveryPolicy USUAL = new DeliveryPolicy(Duration.ofSeconds(15), Duration.ofSeconds(45),
            List.of(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofMinutes(2), Duration.ofMinutes(10),
                    Duration.ofMinutes(30), Duration.ofHours(2), Duration.ofHours(6), Duration.ofHours(12),
                    Duration.ofHours(24), Duration.ofHours(24)),
            100, Duration.ofDays(5), 100_000);
}
