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
 * A round of a task with {@code repeat}.
 *
 * @param round number of the round
 * @param taskId id of its task; of a folded round, that its task had
 * @param folded whether the round is all that is left: its task and steps are gone
 * @param state state of its task
 * @param attempts number of its attempts
 * @param tokensUsed of all its attempts
 * @param cost of all its attempts, in credits
 * @param output of a completed round; null where it is longer than 16384 bytes
 * @param omitted {@code output} where its value was omitted
 * @param errorCode code of the error; null without one
 * @param errorMessage message of the error; null without one
 * @param startedAt time of its start; null before it
 * @param completedAt time of its end; null while it is open
 */
public record TaskRound(@Range(min = 1) int round, @Id String taskId, boolean folded, @Ref("TaskState") String state,
        @Range(min = 1) int attempts, long tokensUsed, BigDecimal cost, JsonNode output,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<@OneOf("output") String> omitted,
        @Nullable String errorCode, @Nullable String errorMessage, @Nullable Instant startedAt,
        @Nullable Instant completedAt) {

    public TaskRound {
        output = Absent.asNull(output);
    }
}
