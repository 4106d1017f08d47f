package io.keelson.api.run;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Types;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An event of a run.
 *
 * @param id number in the order of the feed
 * @param seq number within the run, from 1 without gaps
 * @param runId id of the run
 * @param attempt the run's attempt
 * @param agentId the agent at work in the run that it is about
 * @param taskId task of the event; null without one
 * @param stepId step of the event; null without one
 * @param eventType type of the event
 * @param payload members by the type
 * @param actorType kind of the actor; null if unknown
 * @param actorId id of the actor
 * @param createdAt time of its creation
 */
public record Event(long id, @Range(min = 1) long seq, @Id String runId, @Range(min = 1) int attempt,
        @Nullable String agentId, @Nullable String taskId, @Nullable String stepId, String eventType,
        @Types("object") JsonNode payload, @Nullable String actorType, @Nullable String actorId, Instant createdAt) {

    public Event {
        payload = Absent.asNull(payload);
    }
}
