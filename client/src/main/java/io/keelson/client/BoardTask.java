package io.keelson.client;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A task on the work board.
 *
 * @param status {@code inbox}, {@code assigned}, {@code in_progress}, {@code review} or {@code done}
 * @param priority {@code low}, {@code medium}, {@code high} or {@code urgent}
 * @param reviewMode {@code auto} or {@code manual}
 * @param assignee the name of the run's agent, or free text of people
 * @param assignedAgentId of the roster
 * @param parentTaskId the task that it is a part of; null at the top
 * @param children how many parts it has, counted to 1,000
 * @param sourceType {@code user}, {@code recipe}, {@code orchestration} (a run) or {@code orchestration_task}
 * @param sourceId of the run or of its task; null for what people made
 * @param runId null for what people made
 */
public record BoardTask(long id, String title, @Nullable String description, String status, String priority,
        String reviewMode, @Nullable String assignee, @Nullable Integer assignedAgentId,
        @Nullable Long parentTaskId, int children, String sourceType, @Nullable String sourceId,
        @Nullable String runId, String createdByType, @Nullable String createdById, List<String> tags,
        @Nullable String result, @Nullable String errorMessage, Instant createdAt, Instant updatedAt,
        @Nullable Instant startedAt, @Nullable Instant completedAt) {

    public BoardTask {
        tags = tags == null ? List.of() : List.copyOf(tags);
    }
}
