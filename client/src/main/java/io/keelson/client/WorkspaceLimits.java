package io.keelson.client;

import java.math.BigDecimal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much a workspace may have at most; null for no limit.
 *
 * @param openRuns runs that have not ended
 * @param steps the maximum number of running steps
 * @param runsPerMinute runs created within any minute
 * @param storageBytes of artifacts
 * @param requestsPerMinute with any one key, on each server
 * @param usdPerMonth that runs may reserve and spend in a calendar month of UTC
 * @param tools the maximum number of running steps, by tool
 * @param models likewise by the model that their steps' inputs name
 */
public record WorkspaceLimits(@Nullable Long openRuns, @Nullable Long steps, @Nullable Long runsPerMinute,
        @Nullable Long storageBytes, @Nullable Long requestsPerMinute, @Nullable BigDecimal usdPerMonth,
        Map<String, Long> tools, Map<String, Long> models) {

    public WorkspaceLimits {
        tools = tools == null ? Map.of() : Map.copyOf(tools);
        models = models == null ? Map.of() : Map.copyOf(models);
    }
}
