package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.server.annex.trigger.FlowStore.Member;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** When groups of deliveries start their runs. Groups are not empty, in the order in which their members were received. */
final class FlowTimes {

    private FlowTimes() {}

    /** A period after the last event, and the timeout after the first one at the latest. */
    static Instant debounced(Trigger.Debounce rule, List<Member> group) {
        Instant quiet = group.getLast().receivedAt().plusSeconds(rule.periodSeconds());
        Instant latest = group.getFirst().receivedAt().plusSeconds(rule.timeoutSeconds());
        return quiet.isBefore(latest) ? quiet : latest;
    }

    /** The first members of a debounced group, until the period or the timeout ends. Later ones are of another group. */
    static List<Member> burst(Trigger.Debounce rule, List<Member> group) {
        int size = 1;
        while (size < group.size()
                && !group.get(size).receivedAt().isAfter(debounced(rule, group.subList(0, size)))) {
            size++;
        }
        return group.subList(0, size);
    }

    /** A period after the first event; now for a full group. */
    static Instant batched(Trigger.Batch rule, List<Member> group, Instant now) {
        return group.size() >= rule.max() ? now : group.getFirst().receivedAt().plusSeconds(rule.periodSeconds());
    }

    /**
     * When a rate admits a delivery.
     *
     * @param before deliveries that wait before it
     * @param edge time of the admission that leaves the period first for it: the last one but {@link #laterAdmissions}; null if there are fewer
     * @return now or a time before for a delivery that is admitted
     */
    static Instant admission(Trigger.Rate rule, long before, @Nullable Instant edge, Instant now) {
        Duration period = Duration.ofSeconds(rule.periodSeconds());
        Instant slot = edge == null || edge.plus(period).isBefore(now) ? now : edge.plus(period);
        return slot.plus(period.multipliedBy(before / rule.limit()));
    }

    /** The number of admissions after the admission that leaves the period first for a delivery with {@code before} others before it. */
    static int laterAdmissions(Trigger.Rate rule, long before) {
        return (int) (rule.limit() - 1 - before % rule.limit());
    }

    /** The first members of a batch, at least one, whose bodies have {@code maxBytes} together at most. */
    static List<Member> first(Trigger.Batch rule, List<Member> group, long maxBytes) {
        List<Member> chosen = new ArrayList<>();
        long bytes = 0;
        for (Member each : group) {
            bytes += each.bytes();
            if (chosen.size() == rule.max() || !chosen.isEmpty() && bytes > maxBytes) {
                break;
            }
            chosen.add(each);
        }
        return chosen;
    }
}
