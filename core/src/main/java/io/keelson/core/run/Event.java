package io.keelson.core.run;

import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a run's audit trail, written in the transaction of the change that it tells of.
 *
 * @param seq 1, 2, 3 … without a gap within the run
 * @param attempt the run attempt
 * @param from the state left; null for events that tell of no transition
 * @param to the state entered; null likewise
 * @param detail further payload; values are strings, numbers, booleans or lists of strings
 */
public record Event(UUID runId, long seq, int attempt, @Nullable UUID agentId, @Nullable UUID taskId,
        @Nullable UUID stepId, String type, @Nullable String from, @Nullable String to, Map<String, Object> detail,
        Actor actor, Instant at) {}
