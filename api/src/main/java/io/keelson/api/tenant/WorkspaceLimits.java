package io.keelson.api.tenant;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Limits of a workspace; a member that is null is unlimited.
 *
 * @param openRuns maximum number of runs that have not ended
 * @param steps maximum number of lanes of tasks at work
 * @param runsPerMinute maximum number of runs created within any minute
 * @param storageBytes maximum bytes of artifacts; no new runs beyond
 * @param requestsPerMinute maximum number of requests with any one key, on each server
 * @param usdPerMonth credits that runs may reserve and spend in a calendar month of UTC
 * @param tools maximum number of lanes at work, by tool
 * @param models maximum number of lanes at work, by the model that their step's input names
 */
public record WorkspaceLimits(@Nullable Long openRuns, @Nullable Long steps, @Nullable Long runsPerMinute,
        @Nullable Long storageBytes, @Nullable Long requestsPerMinute, @Nullable BigDecimal usdPerMonth,
        Map<String, Long> tools, Map<String, Long> models) {

    public WorkspaceLimits {
        tools = Absent.asEmpty(tools);
        models = Absent.asEmpty(models);
    }

    /**
     * Changes limits. An absent limit stays; null removes a limit.
     *
     * @param openRuns maximum number of runs that have not ended
     * @param steps maximum number of lanes of tasks at work
     * @param runsPerMinute maximum number of runs created within any minute
     * @param storageBytes maximum bytes of artifacts; no new runs beyond
     * @param requestsPerMinute maximum number of requests with any one key, on each server
     * @param usdPerMonth credits that runs may reserve and spend in a calendar month of UTC
     * @param tools maximum number of lanes at work, by tool
     * @param models maximum number of lanes at work, by the model that their step's input names
     */
    @Request
    public record Change(@Nullable Optional<@Range(min = 0) Long> openRuns,
            @Nullable Optional<@Range(min = 0) Long> steps, @Nullable Optional<@Range(min = 0) Long> runsPerMinute,
            @Nullable Optional<@Range(min = 0) Long> storageBytes,
            @Nullable Optional<@Range(min = 0) Long> requestsPerMinute,
            @Nullable Optional<@Range(min = 0, max = 99_999_999_999_999L) BigDecimal> usdPerMonth,
            @Default("{}") @Size(max = 500) Map<@Text(max = 220) String, Optional<@Range(min = 0) Long>> tools,
            @Default("{}") @Size(max = 500) Map<@Text(max = 220) String, Optional<@Range(min = 0) Long>> models) {}
}
