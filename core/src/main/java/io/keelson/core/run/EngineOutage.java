package io.keelson.core.run;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** A time without any live engine node; it does not count for timeouts. */
public record EngineOutage(Instant from, Instant to) {

    /** The part of the time between two instants with a live engine; zero when they are in the wrong order. */
    public static Duration aliveBetween(Instant from, Instant to, List<EngineOutage> outages) {
        Duration alive = Duration.between(from, to);
        for (EngineOutage outage : outages) {
            Instant start = outage.from.isBefore(from) ? from : outage.from;
            Instant end = outage.to.isAfter(to) ? to : outage.to;
            if (end.isAfter(start)) {
                alive = alive.minus(Duration.between(start, end));
            }
        }
        return alive.isNegative() ? Duration.ZERO : alive;
    }
}
