package io.keelson.core.run;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One reason why a run, task or step waits, or its current work.
 *
 * @param code stable, for example {@code UPSTREAM_OPEN}
 * @param text for users
 * @param taskId the task that it is about; null for the run
 * @param stepId the step that it is about; null for a task or the run
 * @param until when it ends by itself; null when unknown
 * @param on keys of tasks, a worker's id, a ticket's id or a tool that it waits for; may be empty
 * @param needed the least limit, in credits, with which a stopped run continues, as far as prices are known; null for
 *            other reasons
 */
public record Explanation(String code, String text, @Nullable UUID taskId, @Nullable UUID stepId,
        @Nullable Instant until, List<String> on, @Nullable BigDecimal needed) {

    public Explanation {
        on = List.copyOf(on);
    }

    public Explanation(String code, String text, @Nullable UUID taskId, @Nullable UUID stepId,
            @Nullable Instant until, List<String> on) {
        this(code, text, taskId, stepId, until, on, null);
    }
}
