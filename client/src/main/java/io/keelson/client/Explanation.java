package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why something waits.
 *
 * @param state of the run, task or step that was asked about
 * @param reasons the run's own first; empty when nothing is in the way
 * @param tasksLeftOut the number of open tasks of a large run whose reasons are not listed; 0 for a task or step
 */
public record Explanation(String runId, String state, List<Reason> reasons, int tasksLeftOut) {

    public Explanation {
        reasons = reasons == null ? List.of() : List.copyOf(reasons);
    }

    /**
     * @param code stable, for example {@code UPSTREAM_OPEN}
     * @param taskId null for a reason of the whole run
     * @param stepId null for a reason of a task or the run
     * @param until when it ends by itself; null if unknown
     * @param on tasks, a worker, a ticket or a tool that it waits for
     * @param neededUsd the least limit, in credits, with which a stopped run continues; null for other reasons
     */
    public record Reason(String code, String text, @Nullable String taskId, @Nullable String stepId,
            @Nullable Instant until, List<String> on, @Nullable BigDecimal neededUsd) {}
}
