package io.keelson.server.http;

import io.keelson.server.auth.Scope;
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

    private Answer output(Call call) {
        call.query().done();
        UUID id = call.id("id", IdKind.TASK);
        JsonNode output = reads.read((runs, c) -> Reads.found(runs.output(c, call.workspace(), id), IdKind.TASK, id))
                .get("output");
        if (output.isNull()) {
            throw Refusal.of(ErrorCode.OUTPUT_NOT_FOUND, "the task has brought forth nothing in its present attempt");
        }
        return (output.isString() ? text(output.stringValue()) : Answer.resource(output))
                .header("Content-Security-Policy", "sandbox; default-src 'none'");
    }

    private static Answer text(String output) {
        byte[] bytes = output.getBytes(StandardCharsets.UTF_8);
        return Answer.stream("text/plain; charset=utf-8", bytes.length, new ByteArrayInputStream(bytes))
                .header("Cache-Control", "private, no-cache");
    }
}
