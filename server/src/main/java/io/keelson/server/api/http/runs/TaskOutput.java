package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.tenant.auth.Scope;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/** A task's whole output by itself: a string as text, anything else as JSON. A task's {@code output_ref} leads here. */
final class TaskOutput {

    private final Reads reads;

    TaskOutput(Reads reads) {
        this.reads = reads;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/tasks/{id}/output", this::output);
    }

    private ApiResponse output(ApiRequest request) {
        UUID id = request.id("id", IdKind.TASK);
        JsonNode output = reads.read((runs, c) -> Reads.found(runs.output(c, request.workspace(), id), IdKind.TASK, id))
                .get("output");
        if (output.isNull()) {
            throw ApiProblem.of(ErrorCode.OUTPUT_NOT_FOUND,
                    "the task has no output in its current attempt");
        }
        return (output.isString() ? text(output.stringValue()) : ApiResponse.resource(output))
                .header("Content-Security-Policy", "sandbox; default-src 'none'");
    }

    private static ApiResponse text(String output) {
        byte[] bytes = output.getBytes(StandardCharsets.UTF_8);
        return ApiResponse.stream("text/plain; charset=utf-8", bytes.length, new ByteArrayInputStream(bytes))
                .header("Cache-Control", "private, no-cache");
    }
}
