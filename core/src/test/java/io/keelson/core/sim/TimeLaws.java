package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Timeouts do not count time in which no node was alive. */
final class TimeLaws {
    /** By how much a node may be wrong about the time. */
    static final Duration WRONG = Duration.ofSeconds(5);

    private final RunRows before;
    private final List<EngineOutage> outages;

    /** @param outages of which only those count that the run has seen */
    TimeLaws(RunRows before, List<EngineOutage> outages) {
        this.before = before;
        this.outages = outages.stream().filter(o -> before != null && o.to().isAfter(before.created)).toList();
    }

    void check(List<Event> events) {
        if (before != null) {
            events.forEach(this::timedOut);
        }
    }

    private void timedOut(Event event) {
        Timeouts limits = before.accepted.policy().timeouts();
        if (event.type() == EventType.RUN_FAILED && "heartbeat_lost".equals(event.members().get("reason"))) {
            passed(event, before.run.quietSince(), limits.heartbeat());
        } else if (event.type() == EventType.RUN_CANCELLED
                && "paused for too long".equals(event.members().get("reason"))) {
            passed(event, before.run.stateSince(), limits.paused());
        } else if (event.type() == EventType.RUN_FAILED) {
            switch (String.valueOf(event.members().get("error_code"))) {
                case "RUN_NOT_STARTED" -> passed(event, before.run.stateSince(), limits.pending());
                case "RUN_NOT_RESUMED" -> passed(event, before.run.stateSince(), limits.resuming());
                case "RUN_NOT_RETRIED" -> passed(event, before.run.stateSince(), limits.retrying());
                default -> {
                }
            }
        }
    }

    private void passed(Event event, Instant since, Duration limit) {
        Duration alive = Duration.between(since, event.at());
        for (EngineOutage outage : outages) {
            Instant from = since.isAfter(outage.from()) ? since : outage.from();
            Instant to = event.at().isBefore(outage.to()) ? event.at() : outage.to();
            alive = from.isBefore(to) ? alive.minus(Duration.between(from, to)) : alive;
        }
        unless(alive.plus(WRONG).compareTo(limit) >= 0, "only %s of %s had passed with a node alive: %s", alive, limit,
                event);
    }
}
