package io.keelson.server.outlet.webhook;

import java.time.Duration;
import java.util.List;

/**
 * Limits of deliveries.
 *
 * @param timeout of one request
 * @param lease longer than an attempt, which has two requests after a broken connection
 * @param delays after each failed attempt; after the last one the delivery is dead
 * @param turn deliveries to one endpoint before others have their turn
 * @param failingLimit how long an endpoint may refuse all deliveries before it is disabled
 * @param most deliveries that may wait at such an endpoint before it is disabled
 */
record DeliveryPolicy(Duration timeout, Duration lease, List<Duration> delays, int turn, Duration failingLimit,
        int most) {

    /** Some three days in all. */
    static final DeliveryPolicy USUAL = new DeliveryPolicy(Duration.ofSeconds(15), Duration.ofSeconds(45),
            List.of(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofMinutes(2), Duration.ofMinutes(10),
                    Duration.ofMinutes(30), Duration.ofHours(2), Duration.ofHours(6), Duration.ofHours(12),
                    Duration.ofHours(24), Duration.ofHours(24)),
            100, Duration.ofDays(5), 100_000);
}
