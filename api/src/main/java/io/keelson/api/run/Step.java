package io.keelson.api.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Omittable;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A step of a task, the unit of a claim.
 *
 * @param id id of the resource
 * @param runId id of the run
 * @param taskId id of the task
 * @param taskKey the id of its task in the plan
 * @param superseded it belongs to a row or an attempt of its task that another has replaced
 * @param name name in the plan
 * @param kind kind of the step
 * @param tool name of the tool; null for a wait
 * @param position in its task; the turns and calls of an agent share one
 * @param turn counts the turns and calls of one position
 * @param state state of the step
 * @param stateType kind of the state
 * @param taskAttempt the attempt of its task that it belongs to
 * @param attempt number of its attempt, from 0 before the first claim
 * @param failures failed attempts so far
 * @param failureIgnored it failed and its task continued without it
 * @param input resolved, once it has a result; before that the plan's. After a failure null where the plan's has
 *     expressions and no resolved input was recorded. In lists null where it is longer than 16384 bytes
 * @param output in lists null where it is longer than 16384 bytes
 * @param inputBytes with {@code light}: the size of the input as JSON
 * @param inputStart with {@code light}: its first 1,024 characters
 * @param outputBytes with {@code light}: size of the output as JSON, in bytes
 * @param outputStart with {@code light}: first 1,024 characters of the output
 * @param omitted in lists and with {@code light}, the members whose values were omitted; the read of a single step
 *     returns them
 * @param maxAttempts maximum number of attempts
 * @param leaseEpoch rises with every claim
 * @param calledBy the step whose program has made the call; null for any other step
 * @param resultFrom the step whose result it has taken over, at no cost; null for a step that was executed
 * @param errorCode code of the error; null without one
 * @param errorMessage message of the error; null without one
 * @param errorClass class of the error, which decides whether it is retried
 * @param tokens tokens that it used
 * @param cost cost in credits
 * @param progress part that is done; as its worker last reported
 * @param progressMessage message of the last progress report
 * @param nextRunAt next run at
 * @param startedAt time of its start; null before it
 * @param completedAt time of its end; null while it is open
 * @param createdAt time of its creation
 */
public record Step(@Id String id, @Id String runId, @Id String taskId, String taskKey, boolean superseded,
        String name, @OneOf({
                "tool", "turn", "call", "approval", "wait", "signal", "run", "verify"}) String kind,
        @Nullable String tool, int position, @Range(min = 1) int turn, @Ref("StepState") String state,
        @Ref("StateType") String stateType, @Range(min = 1) int taskAttempt, int attempt, int failures,
        boolean failureIgnored, JsonNode input, JsonNode output, @Omittable @Nullable Long inputBytes,
        @Omittable @Nullable String inputStart, @Omittable @Nullable Long outputBytes,
        @Omittable @Nullable String outputStart,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<@OneOf({"input", "output"}) String> omitted,
        @Nullable Integer maxAttempts, @Range(min = 0) int leaseEpoch, @Nullable @Id String calledBy,
        @Nullable ResultSource resultFrom,
        @Nullable String errorCode,
        @Nullable String errorMessage, @Nullable String errorClass, long tokens, BigDecimal cost,
        @Nullable @Range(min = 0, max = 1) Double progress, @Nullable String progressMessage,
        @Nullable Instant nextRunAt, @Nullable Instant startedAt, @Nullable Instant completedAt, Instant createdAt) {

    public Step {
        input = Absent.asNull(input);
        output = Absent.asNull(output);
    }
}
