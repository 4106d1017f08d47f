package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A known worker.
 *
 * @param slots how many steps it takes at a time, as it last said
 * @param draining true when it is given no more work
 */
public record WorkerInfo(String id, List<String> tools, int slots, @Nullable Instant lastSeenAt,
        @Nullable String version, boolean draining) {

    public WorkerInfo {
        tools = tools == null ? List.of() : List.copyOf(tools);
    }
}
