package io.keelson.api.inbox;

import io.keelson.api.Absent;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much waits for a person.
 *
 * @param total number of waiting items; tickets of a run about the same failure count as one
 * @param overdue number of overdue items
 * @param unassigned number of items without an assignee
 * @param oldestAt time since which the oldest item waits; null without items
 * @param nextDueAt next due time; null without one
 * @param byKind number of items by kind
 */
public record InboxStats(int total, int overdue, int unassigned, @Nullable Instant oldestAt,
        @Nullable Instant nextDueAt, Map<String, Integer> byKind) {

    public InboxStats {
        byKind = Absent.asEmpty(byKind);
    }
}
