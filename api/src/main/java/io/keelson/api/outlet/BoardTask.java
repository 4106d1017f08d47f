package io.keelson.api.outlet;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A task on the work board.
 *
 * @param id number of the board task
 * @param title title of the task
 * @param description text for people
 * @param status column of the board
 * @param priority urgency for people
 * @param reviewMode {@code manual} if the plan names a verifier for the task
 * @param assignee the agent of the plan, or free text of people
 * @param assignedAgentId of the roster
 * @param parentTaskId number of the board task that it is a part of; null if absent
 * @param children its parts, counted to 1,000
 * @param sourceType {@code orchestration} is a run, {@code orchestration_task} one of its tasks
 * @param sourceId of the run or of its task
 * @param runId run of the board task; null without one
 * @param createdByType kind of its creator
 * @param createdById id of its creator
 * @param tags tags of the task
 * @param planningData of a run {@code run_id}, {@code strategy}, {@code task_progress}, {@code current_task} (the id in
 *     the plan of the first task at work; null if absent) and {@code budget}, as of the last begin or end of one of its
 *     tasks; of its task {@code task_id}, {@code run_id}, {@code sequence}, {@code task_type}, {@code attempt}, {@code
 *     continuation}, {@code dependencies} and {@code trigger_rule}; null for tasks that people made
 * @param result result; null before it
 * @param errorMessage message of the error; null without one
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 * @param startedAt time of its start; null before it
 * @param completedAt time of its end; null while it is open
 */
public record BoardTask(long id, String title, @Nullable String description, @Ref("BoardStatus") String status,
        @Ref("BoardPriority") String priority, @OneOf({
                "auto", "manual"}) String reviewMode,
        @Nullable String assignee, @Nullable Integer assignedAgentId, @Nullable Long parentTaskId,
        @Range(max = 1000) int children,
        @OneOf({"user", "recipe", "orchestration", "orchestration_task"}) String sourceType,
        @Nullable String sourceId, @Nullable String runId, String createdByType, @Nullable String createdById,
        List<String> tags, @Nullable ObjectNode planningData, @Nullable String result,
        @Nullable String errorMessage, Instant createdAt, Instant updatedAt, @Nullable Instant startedAt,
        @Nullable Instant completedAt) {

    public BoardTask {
        tags = Absent.asEmpty(tags);
    }

    /**
     * Creates a board task.
     *
     * @param title title for people
     * @param description text for people
     * @param status column of the board
     * @param priority priority
     * @param assignee agent or person that does it
     * @param parentTaskId task that it is a part of
     * @param tags tags
     */
    @Request
    public record New(@Text(format = "name", pattern = "\\S", max = 500) String title,
            @Nullable @Text(max = 20_000) String description, @Default("inbox") @Ref("BoardStatus") String status,
            @Default("medium") @Ref("BoardPriority") String priority, @Nullable @Text(max = 255) String assignee,
            @Nullable @Range(min = 1, max = 9_007_199_254_740_991L) Long parentTaskId,
            @Default("[]") @Size(max = 20) List<@Text(format = "name", pattern = "\\S", max = 100) String> tags) {}

    /**
     * Changes a board task. Members that are absent stay unchanged; null removes a description, an assignee or a result.
     *
     * @param title title for people
     * @param description text for people
     * @param status column of the board
     * @param priority priority
     * @param assignee agent or person that does it
     * @param tags all tags
     * @param result outcome of the task
     */
    @Request
    public record Change(@Nullable @Text(format = "name", pattern = "\\S", max = 500) String title,
            @Nullable Optional<@Text(max = 20_000) String> description, @Nullable @Ref("BoardStatus") String status,
            @Nullable @Ref("BoardPriority") String priority, @Nullable Optional<@Text(max = 255) String> assignee,
            @Nullable @Size(max = 20) List<@Text(format = "name", pattern = "\\S", max = 100) String> tags,
            @Nullable Optional<@Text(max = 4000) String> result) {}
}
