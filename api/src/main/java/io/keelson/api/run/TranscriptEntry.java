package io.keelson.api.run;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.money.TokenUsage;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A turn of an agent, a call that it requested, another step of the task, or a request of a step's program to a model.
 *
 * @param stepId a UUID, also with the prefix of its kind
 * @param kind {@code turn}, {@code call}, the kind of another step, or {@code request}
 * @param turn the number of the turn, of a call the turn that requested it
 * @param taskAttempt the number of the task's attempt; null for a copied entry
 * @param copied from the run that this one is a fork of: not executed and not charged here
 * @param tool name of the tool; null without one
 * @param state state of the step
 * @param attempt number of its attempt
 * @param model that is charged
 * @param modelAnswered as the provider names it
 * @param finish why the answer of a turn that calls tools ended
 * @param text of a turn that calls tools or whose answer cannot be used
 * @param calls calls that the turn requests, as in its output: {@code name}, {@code input}, and {@code refused} where one is not
 *     executed
 * @param again why the answer cannot be used
 * @param input of a call, resolved
 * @param output of a call its result, of the last turn the output of the task
 * @param omitted the values of more than 16,384 bytes, which are null here; the step has them
 * @param errorCode code of the error; null without one
 * @param errorClass class of the error, which decides whether it is retried
 * @param errorMessage message of the error; null without one
 * @param tokens tokens that it used
 * @param usage tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up to
 *     all. Null for no tokens
 * @param cost cost in credits
 * @param firstTextMs from sending to the first part of the answer
 * @param totalMs from sending to the end of the answer
 * @param startedAt time of its start; null before it
 * @param completedAt time of its end; null while it is open
 * @param calledBy the step whose program has made the call; null for any other entry
 * @param leaseEpoch the lease epoch of the execution that has sent the request; later executions get the recorded answer. Null for
 *     any other entry
 * @param differs the first message of a new request that differs from the record, of the first such request of an execution: {@code message} (its
 *     number, from 1), {@code role}, and the texts {@code recorded} and {@code sent}; null for any other entry
 */
public record TranscriptEntry(@Id String stepId, String kind, @Range(min = 0) int turn,
        @Nullable Integer taskAttempt, boolean copied, @Nullable String tool, String state, int attempt,
        @Nullable String model, @Nullable String modelAnswered, @Nullable String finish, @Nullable String text,
        @Nullable List<ObjectNode> calls, @Nullable TurnProblem again, JsonNode input, JsonNode output,
        List<@OneOf({
                "input", "output"}) String> omitted,
        @Nullable String errorCode, @Nullable String errorClass,
        @Nullable String errorMessage, long tokens, @Nullable TokenUsage usage, BigDecimal cost,
        @Nullable Long firstTextMs, @Nullable Long totalMs, @Nullable Instant startedAt,
        @Nullable Instant completedAt, @Nullable @Id String calledBy, @Nullable Integer leaseEpoch,
        @Nullable ObjectNode differs) {

    public TranscriptEntry {
        calls = Absent.asEmpty(calls);
        omitted = Absent.asEmpty(omitted);
        input = Absent.asNull(input);
        output = Absent.asNull(output);
    }
}
