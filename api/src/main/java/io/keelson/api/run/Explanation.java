package io.keelson.api.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Range;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why something waits.
 *
 * @param runId id of the run
 * @param taskId of a task or a step only
 * @param stepId of a step only
 * @param state state of the run or task
 * @param reasons reasons of the wait
 * @param tasksLeftOut a run has the reasons of its first 100 open tasks that could move. The number of such tasks beyond
 *     them; {@code GET /tasks/{id}/explain} explains one. 0 for a task or a step
 */
public record Explanation(@Id String runId, @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @Id String taskId,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable @Id String stepId, String state, List<Reason> reasons,
        @Range(min = 0) int tasksLeftOut) {

    public Explanation {
        reasons = Absent.asEmpty(reasons);
    }

    /**
     * A reason of the wait.
     *
     * @param code stable: UPSTREAM_OPEN, QUEUED, MISSING_WORKER, RUNNING, STEP_BACKOFF, TASK_REVIEW and so on
     * @param text explanation for people
     * @param taskId task that waits; null for the run
     * @param stepId step that waits; null for the task or run
     * @param until when it is over by itself
     * @param neededUsd of a run that its limit or the budget of a task has stopped: the least new limit in credits with
     *     which it continues, including the cost of the next step. Without a price for that step, it is a millionth more
     *     than the use. Null for other reasons, and where the workspace has no credits left
     * @param on ids or names of tasks, a worker, a ticket or a tool that it waits for
     */
    public record Reason(String code, String text, @Nullable @Id String taskId, @Nullable @Id String stepId,
            @Nullable Instant until, @Nullable BigDecimal neededUsd, List<String> on) {}
}
