package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.JsonSize;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Runs as results of tools: the state, and the client's next action. */
record OfferedRunDocuments(Reads reads, PageLinks links) {

    /** Characters of an output that a result has; a longer one is read as a resource. */
    private static final int MAX_OUTPUT = 65_536;

    /** The schema of {@link #of}. */
    static final String SCHEMA = """
            {"type": "object", "required": ["run_id", "status"], "properties": {
              "run_id": {"type": "string", "description": "Also the id of the run's task"},
              "status": {"type": "string", "description": "State of the run; completed, failed, cancelled and skipped are final"},
              "name": {"type": "string"},
              "url": {"type": "string", "description": "The run, for people"},
              "tasks_total": {"type": "integer"},
              "tasks_completed": {"type": "integer"},
              "tasks_failed": {"type": "integer"},
              "cost_usd": {"type": "number"},
              "waits_for_humans": {"type": "integer", "description": "Questions that wait for a person"},
              "reasons": {"type": "array", "description": "Why an open run waits, as explain says it; only from mission_status",
                "items": {"type": "object", "required": ["code", "text"], "properties": {"code": {"type": "string"}, "text": {"type": "string"}}}},
              "inbox_url": {"type": "string", "description": "Where a person answers; only while something waits"},
              "created_at": {"type": "string"},
              "completed_at": {"type": "string"},
              "output": {"description": "Only of a run that has ended"},
              "output_omitted": {"type": "boolean", "description": "True where the output is too long for a result: read the resource keelson://runs/RUN_ID"},
              "error": {"type": "object", "properties": {"code": {"type": "string"}, "message": {"type": "string"}}}
            }}""";

    /** A run of the caller's workspace. */
    ObjectNode of(ApiRequest request, UUID run) {
        return of(request, reads.run(request.workspace(), run));
    }

    ObjectNode of(ApiRequest request, ObjectNode run) {
        UUID id = UUID.fromString(run.get("id").stringValue());
        ObjectNode document = Json.object().put("run_id", id.toString());
        document.set("status", run.get("state"));
        document.set("name", run.get("name"));
        document.put("url", links.run(request, id));
        document.set("tasks_total", run.get("task_count"));
        document.set("tasks_completed", run.get("tasks_completed"));
        document.set("tasks_failed", run.get("tasks_failed"));
        document.set("cost_usd", run.get("total_cost"));
        document.set("waits_for_humans", run.get("waits_for_humans"));
        if (waits(run)) {
            document.put("inbox_url", links.inbox(request, id));
        }
        document.set("created_at", run.get("created_at"));
        if (ended(run)) {
            document.set("completed_at", run.get("completed_at"));
            JsonNode output = run.path("output");
            boolean fits = JsonSize.chars(output, MAX_OUTPUT) <= MAX_OUTPUT;
            if (fits) {
                document.set("output", output);
            } else {
                document.put("output_omitted", true);
            }
        }
        if (run.path("error_code").isString()) {
            ObjectNode error = document.putObject("error");
            error.set("code", run.get("error_code"));
            error.set("message", run.get("error_message"));
        }
        document.properties().removeIf(member -> member.getValue().isNull());
        return document;
    }

    /** Whether something of the run waits for a person. */
    static boolean waits(ObjectNode run) {
        return run.path("waits_for_humans").asInt(0) > 0;
    }

    static boolean ended(ObjectNode run) {
        return run.path("state_type").asString("").equals("terminal");
    }

    /** The result of a tool that has started a run which has ended or not. */
    ObjectNode result(ApiRequest request, ObjectNode run) {
        ObjectNode result = ToolResults.structured(of(request, run));
        boolean failed = ended(run) && !run.path("state").asString("").equals("completed");
        return failed ? result.put("isError", true) : result;
    }
}
