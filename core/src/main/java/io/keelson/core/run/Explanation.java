package io.keelson.core.run;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One reason why something waits, or what it is doing.
 *
 * @param code stable, for example {@code UPSTREAM_OPEN}
 * @param text for people
 * @param taskId the task that it is about; null for the run
 * @param stepId the step that it is about; null for a task or the run
 * @param until when it ends by itself; null when unknown
 * @param on what it waits for: keys of tasks, a worker's id, a ticket's id, a tool; may be empty
 */
public record Explanation(String code, String text, @Nullable UUID taskId, @Nullable UUID stepId,
        @Nullable Instant until, List<String> on) {

    public Explanation {
        on = List.copyOf(on);
    }
}
