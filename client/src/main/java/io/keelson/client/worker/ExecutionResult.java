package io.keelson.client.worker;

import io.keelson.client.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * How an execution ended, as it is reported.
 *
 * @param kind which route takes it
 * @param body the item's members beside {@code step_id} and {@code lease_epoch}
 */
record ExecutionResult(Kind kind, ObjectNode body) {

    /** The routes under {@code /dispatch}. */
    enum Kind {
        COMPLETE, CONTINUE, FAIL, RELEASE
    }

    static ExecutionResult completed(JsonNode output, ObjectNode extras) {
        extras.set("output", output);
        return new ExecutionResult(Kind.COMPLETE, extras);
    }

    static ExecutionResult continued(JsonNode output, ObjectNode extras) {
        extras.set("output", output);
        return new ExecutionResult(Kind.CONTINUE, extras);
    }

    /** @param usage members of the reported usage */
    static ExecutionResult failed(StepFailure failure, ObjectNode usage) {
        ObjectNode body = usage
                .put("error_code", failure.code())
                .put("error_class", failure.errorClass().wire())
                .put("message", failure.getMessage());
        if (failure.retryAfter() != null) {
            body.put("retry_after_ms", failure.retryAfter().toMillis());
        }
        return new ExecutionResult(Kind.FAIL, body);
    }

    /** Handed back unfinished: it costs neither an attempt nor a failure. */
    static ExecutionResult released() {
        return new ExecutionResult(Kind.RELEASE, Json.object());
    }

    /** Handed back until a time. */
    static ExecutionResult deferred(StepDeferral deferral) {
        ObjectNode body = Json.object();
        ObjectNode details = body.putObject("deferral").put("retry_after_ms", deferral.delay().toMillis())
                .put("message", deferral.getMessage());
        if (deferral.busy() != null) {
            details.put("busy", deferral.busy());
        }
        if (deferral.code() != null) {
            details.put("error_code", deferral.code());
        }
        return new ExecutionResult(Kind.RELEASE, body);
    }

    boolean hasArtifacts() {
        return body.has("artifacts");
    }
}
