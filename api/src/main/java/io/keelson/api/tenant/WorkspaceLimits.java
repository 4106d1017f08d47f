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
 * @param stepsPerMinute maximum number of steps that begin within any minute, retries included
 * @param toolsPerMinute maximum number of steps that begin within any minute, by tool
 * @param modelsPerMinute maximum number of steps that begin within any minute, by the model that their input names, and of requests of
 *     programs to the model
 * @param modelTokensPerMinute maximum number of tokens of requests that begin within any minute, by model
 * @param agentsPerMinute maximum number of steps that begin within any minute, by the slug of the agent of the roster that does the task
 */
public record WorkspaceLimits(@Nullable Long openRuns, @Nullable Long steps, @Nullable Long runsPerMinute,
        @Nullable Long storageBytes, @Nullable Long requestsPerMinute, @Nullable BigDecimal usdPerMonth,
        Map<String, Long> tools, Map<String, Long> models, @Nullable Long stepsPerMinute,
        Map<String, Long> toolsPerMinute, Map<String, Long> modelsPerMinute,
        Map<String, Long> modelTokensPerMinute, Map<String, Long> agentsPerMinute) {

    public WorkspaceLimits {
        tools = Absent.asEmpty(tools);
        models = Absent.asEmpty(models);
        toolsPerMinute = Absent.asEmpty(toolsPerMinute);
        modelsPerMinute = Absent.asEmpty(modelsPerMinute);
        modelTokensPerMinute = Absent.asEmpty(modelTokensPerMinute);
        agentsPerMinute = Absent.asEmpty(agentsPerMinute);
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
     * @param stepsPerMinute maximum number of steps that begin within any minute, retries included
     * @param toolsPerMinute maximum number of steps that begin within any minute, by tool
     * @param modelsPerMinute maximum number of steps that begin within any minute, by the model that their input names, and of
     *     requests of programs to the model
     * @param modelTokensPerMinute maximum number of tokens of requests that begin within any minute, by model
     * @param agentsPerMinute maximum number of steps that begin within any minute, by the slug of the agent of the roster that does
     *     the task
     */
    @Request
    public record Change(@Nullable Optional<@Range(min = 0) Long> openRuns,
            @Nullable Optional<@Range(min = 0) Long> steps, @Nullable Optional<@Range(min = 0) Long> runsPerMinute,
            @Nullable Optional<@Range(min = 0) Long> storageBytes,
            @Nullable Optional<@Range(min = 0) Long> requestsPerMinute,
            @Nullable Optional<@Range(min = 0, max = 99_999_999_999_999L) BigDecimal> usdPerMonth,
            @Default("{}") @Size(max = 500) Map<@Text(pattern = "\\S", max = 220) String,
                    Optional<@Range(min = 0) Long>> tools,
            @Default("{}") @Size(max = 500) Map<@Text(pattern = "\\S", max = 220) String,
                    Optional<@Range(min = 0) Long>> models,
            @Nullable Optional<@Range(min = 0, max = 60_000_000) Long> stepsPerMinute,
            @Default("{}") @Size(max = 500) Map<@Text(pattern = "\\S", max = 200) String,
                    Optional<@Range(min = 0, max = 60_000_000) Long>> toolsPerMinute,
            @Default("{}") @Size(max = 500) Map<@Text(pattern = "\\S", max = 200) String,
                    Optional<@Range(min = 0, max = 60_000_000) Long>> modelsPerMinute,
            @Default("{}") @Size(max = 500) Map<@Text(pattern = "\\S", max = 200) String,
                    Optional<@Range(min = 0, max = 60_000_000_000L) Long>> modelTokensPerMinute,
            @Default("{}") @Size(max = 500) Map<@Text(pattern = "\\S", max = 200) String,
                    Optional<@Range(min = 0, max = 60_000_000) Long>> agentsPerMinute) {}
}
