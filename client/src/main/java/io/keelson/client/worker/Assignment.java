package io.keelson.client.worker;

import io.keelson.client.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A step that the server has given to this worker under a lease. */
record Assignment(String stepId, String runId, String taskId, String tool, JsonNode input, int attempt, int leaseEpoch,
        @Nullable Instant deadline, String effectKey, JsonNode failureContext, JsonNode previousDetails,
        @Nullable String traceparent, @Nullable Long maxOutputTokens) {

    static Assignment of(JsonNode item) {
        String deadline = item.path("deadline").asString("");
        return new Assignment(item.path("step_id").asString(), item.path("run_id").asString(""),
                item.path("task_id").asString(""), item.path("tool").asString(), orNull(item, "input"),
                item.path("attempt").asInt(1), item.path("lease_epoch").asInt(),
                deadline.isEmpty() ? null : Instant.parse(deadline), item.path("effect_key").asString(""),
                orNull(item, "failure_context"), orNull(item, "details"),
                item.path("traceparent").isString() ? item.get("traceparent").stringValue() : null,
                item.path("max_output_tokens").isIntegralNumber() ? item.get("max_output_tokens").longValue() : null);
    }

    private static JsonNode orNull(JsonNode item, String member) {
        JsonNode value = item.get(member);
        return value == null ? Json.of(null) : value;
    }
}
