package io.keelson.core.run;

import io.keelson.core.lifecycle.EventType;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a run's audit trail, written in the transaction of its change.
 *
 * @param seq 1, 2, 3 … without a gap within the run
 * @param attempt the run attempt
 * @param from the previous state; null for events without a transition
 * @param to the new state; null for events without a transition
 */
public record Event(UUID runId, long seq, int attempt, @Nullable UUID agentId, @Nullable UUID taskId,
        @Nullable UUID stepId, Payload payload, @Nullable String from, @Nullable String to, Actor actor, Instant at) {

    public EventType type() {
        return payload.type();
    }

    /** The payload's members by name, for readers that do not distinguish types. */
    public Map<String, Object> members() {
        Map<String, Object> members = new LinkedHashMap<>();
        payload.write(members::put);
        return members;
    }
}
