package io.keelson.client;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much waits for a person.
 *
 * @param oldestAt since when the oldest waits; null when nothing does
 * @param nextDueAt when the first is due, or was; null when nothing is
 * @param byKind how many there are of each kind
 */
public record InboxStats(int total, int overdue, int unassigned, @Nullable Instant oldestAt,
        @Nullable Instant nextDueAt, Map<String, Integer> byKind) {

    public InboxStats {
        byKind = byKind == null ? Map.of() : Map.copyOf(byKind);
    }
}
