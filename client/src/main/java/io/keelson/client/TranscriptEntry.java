package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A turn of an agent, a call that it asked for, or another step of the task.
 *
 * @param kind {@code turn}, {@code call}, or the kind of another step
 * @param turn the number of the turn, of a call that of the turn that asked for it
 * @param taskAttempt the number of the task's attempt; null for a copied entry
 * @param copied from the run that this one is a fork of: not executed and not charged here
 * @param model that is charged; null if absent
 * @param modelAnswered as the provider names it
 * @param text of a turn that calls tools or whose answer cannot be used
 * @param calls that the turn asks for, each with {@code id}, {@code name} and {@code input}
 * @param again why the answer cannot be used; a JSON null where it can
 * @param input of a call; a JSON null elsewhere
 * @param output of a call its result, of the last turn the output of the task; a JSON null elsewhere
 * @param omitted the names of those values that are too long for a list; the step has them
 * @param usage null when there are no tokens
 * @param cost credits
 * @param firstTextMs from sending to the first part of the answer
 */
public record TranscriptEntry(String stepId, String kind, int turn, @Nullable Integer taskAttempt, boolean copied,
        @Nullable String tool, String state,
        int attempt,
        @Nullable String model, @Nullable String modelAnswered, @Nullable String finish, @Nullable String text,
        List<JsonNode> calls, JsonNode again, JsonNode input, JsonNode output, List<String> omitted,
        @Nullable String errorCode, @Nullable String errorClass, @Nullable String errorMessage, long tokens,
        @Nullable TokenUsage usage, @Nullable BigDecimal cost, @Nullable Long firstTextMs, @Nullable Long totalMs,
        @Nullable Instant startedAt, @Nullable Instant completedAt) {

    public TranscriptEntry {
        calls = calls == null ? List.of() : List.copyOf(calls);
        omitted = omitted == null ? List.of() : List.copyOf(omitted);
        again = Json.orNull(again);
        input = Json.orNull(input);
        output = Json.orNull(output);
    }
}
