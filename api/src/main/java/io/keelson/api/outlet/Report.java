package io.keelson.api.outlet;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Ref;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A report on a task or a run's attempt.
 *
 * @param id id of the resource
 * @param type kind of the report
 * @param title title of the report
 * @param runId run of the report; null if it is gone
 * @param attempt the run's attempt
 * @param taskId null when it is about the run
 * @param agent name of the agent; null for a run
 * @param state in which the task or the run ended
 * @param failures of a run: how many of its tasks and steps failed, although the run may be completed; null for a task
 * @param tokens tokens that it used
 * @param cost cost in credits
 * @param durationMs milliseconds; null if unknown
 * @param createdAt time of its creation
 * @param content markdown; not in lists
 */
public record Report(@Id String id, @Ref("ReportType") String type, String title, @Nullable String runId,
        @Nullable Integer attempt, @Nullable String taskId, @Nullable String agent, @Nullable String state,
        @Nullable Integer failures, long tokens, BigDecimal cost, @Nullable Long durationMs, Instant createdAt,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String content) {

    /** True when it is about a run that came to its end although parts failed. */
    public boolean completedWithFailures() {
        return failures != null && failures > 0 && ("completed".equals(state) || "skipped".equals(state));
    }
}
