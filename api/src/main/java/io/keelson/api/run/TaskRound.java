package io.keelson.api.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A round of a task or of a group with {@code repeat}. Of a group, it has the sums and the worst state of its tasks.
 *
 * @param round number of the round
 * @param taskId id of its task; of a folded round, that its task had; of a group, the id of one of its tasks
 * @param folded whether the round is all that is left: its task and steps are gone
 * @param state state of its task
 * @param attempts number of its attempts; of a group, of the task with the most
 * @param tokensUsed of all its attempts
 * @param cost of all its attempts, in credits
 * @param output of a completed round; of a group, the outputs of its tasks by their names; null where it is longer than 16384 bytes
 * @param omitted {@code output} where its value was omitted
 * @param errorCode code of the error; null without one
 * @param errorMessage message of the error; null without one
 * @param startedAt time of its start; null before it
 * @param completedAt time of its end; null while it is open
 * @param tasks of a group: its tasks; null of a task
 */
public record TaskRound(@Range(min = 1) int round, @Id String taskId, boolean folded, @Ref("TaskState") String state,
        @Range(min = 1) int attempts, long tokensUsed, BigDecimal cost, JsonNode output,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<@OneOf("output") String> omitted,
        @Nullable String errorCode, @Nullable String errorMessage, @Nullable Instant startedAt,
        @Nullable Instant completedAt, @Nullable List<RoundTask> tasks) {

    /**
     * A task of a round of a group.
     *
     * @param name its id in the group
     * @param taskId its id; of a folded round, that it had
     * @param state state of the task
     */
    public record RoundTask(String name, @Id String taskId, @Ref("TaskState") String state) {}

    public TaskRound {
        output = Absent.asNull(output);
    }
}
