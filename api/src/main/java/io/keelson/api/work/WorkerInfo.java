package io.keelson.api.work;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Range;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A known worker.
 *
 * @param id the worker's own name
 * @param tools names of the tools in its last claim
 * @param slots maximum number of steps of its last claim
 * @param version version in its last claim
 * @param draining whether it gets no more steps
 * @param firstSeenAt time of its first claim
 * @param lastSeenAt time of its last request
 */
public record WorkerInfo(String id, List<String> tools, @Range(min = 0) int slots, @Nullable String version,
        boolean draining, Instant firstSeenAt, Instant lastSeenAt) {

    public WorkerInfo {
        tools = Absent.asEmpty(tools);
    }
}
