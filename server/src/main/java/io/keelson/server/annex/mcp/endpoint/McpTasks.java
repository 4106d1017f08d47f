package io.keelson.server.annex.mcp.endpoint;

import io.keelson.core.lifecycle.RunState;
import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.api.http.runs.RunActions;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.RunEndPoll;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.time.Duration;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Runs as tasks of the protocol, in both of its forms. A task's id is its run's. */
final class McpTasks {
    private static final String RELATED = "io.modelcontextprotocol/related-task";
    private static final int POLL_MILLIS = 2_000;
    private static final int OK = 200;

    private final Reads reads;
    private final RunActions runs;
    private final OfferedRunDocuments documents;
    private final InboxQuestions questions;
    private final RunEndPoll ends;
    private final Duration timeout;

    /** @param timeout how long a request for a result waits for the run's end */
    public McpTasks(Reads reads, RunActions runs, OfferedRunDocuments documents, InboxQuestions questions,
            RunEndPoll ends, Duration timeout) {
        this.reads = reads;
        this.runs = runs;
        this.documents = documents;
        this.questions = questions;
        this.ends = ends;
        this.timeout = timeout;
    }

    /** The answer to a call that has started a run. */
    ObjectNode created(Incoming incoming, UUID id) {
        ObjectNode run = reads.run(incoming.workspace(), id);
        if (incoming.modern()) {
            return task(incoming, run, false).put("resultType", "task");
        }
        ObjectNode result = Json.object();
        result.set("task", task(incoming, run, false));
        return result;
    }

    ObjectNode get(Incoming incoming) {
        ObjectNode run = run(incoming);
        ObjectNode asked = questions.requests(incoming, run);
        ObjectNode task = task(incoming, run, !asked.isEmpty());
        if (incoming.modern() && !asked.isEmpty()) {
            task.set("inputRequests", asked);
        }
        if (incoming.modern() && task.path("status").asString("").equals("completed")) {
            task.set("result", documents.result(incoming.request(), run).put("resultType", "complete"));
        }
        return task;
    }

    /** Waits for the run's end for a while. */
    ObjectNode result(Incoming incoming) throws InterruptedException {
        UUID id = id(incoming);
        incoming.require(Scope.RUNS_READ);
        incoming.request().body().release();
        try (RunEndPoll.Awaited end = ends.of(id)) {
            end.reached(incoming.request(), timeout);
        }
        ObjectNode run = reads.run(incoming.workspace(), id);
        if (!OfferedRunDocuments.ended(run)) {
            throw new RpcError(OK, Mcp.INTERNAL_ERROR, "the run has not ended: ask again", null);
        }
        ObjectNode result = documents.result(incoming.request(), run);
        result.putObject("_meta").putObject(RELATED).put("taskId", id.toString());
        return result;
    }

    ObjectNode cancel(Incoming incoming) throws InterruptedException {
        ObjectNode run = run(incoming);
        incoming.require(Scope.RUNS_WRITE);
        boolean ended = OfferedRunDocuments.ended(run);
        if (ended && !incoming.modern()) {
            throw RpcError.invalid("the task has ended");
        }
        UUID id = UUID.fromString(run.get("id").stringValue());
        if (!ended) {
            cancel(incoming, id);
        }
        return incoming.modern() ? Json.object() : task(incoming, reads.run(incoming.workspace(), id), false);
    }

    /** A run that ends meanwhile needs no cancellation. */
    private void cancel(Incoming incoming, UUID run) throws InterruptedException {
        try {
            runs.cancel(incoming.request(), run, "cancelled by an MCP client");
        } catch (ApiProblem refused) {
            if (!reads.ended(incoming.workspace(), run)) {
                throw refused;
            }
        }
    }

    /** Takes answers to the run's questions. */
    ObjectNode update(Incoming incoming) throws InterruptedException {
        ObjectNode run = run(incoming);
        JsonNode responses = incoming.params().path("inputResponses");
        if (!responses.isObject()) {
            throw RpcError.invalid("params.inputResponses must be an object");
        }
        questions.answer(incoming, run, (ObjectNode) responses);
        return Json.object();
    }

    private ObjectNode run(Incoming incoming) {
        if (incoming.modern() && !incoming.takesTasks()) {
            throw RpcError.tasksNotDeclared();
        }
        incoming.require(Scope.RUNS_READ);
        return reads.run(incoming.workspace(), id(incoming));
    }

    private static UUID id(Incoming incoming) {
        String text = incoming.text("taskId");
        UUID id = IdKind.RUN.parse(text);
        if (id == null) {
            throw RpcError.invalid("no task '" + Excerpt.piece(text) + "'");
        }
        return id;
    }

    /** @param asks whether the client can answer the run's question */
    private ObjectNode task(Incoming incoming, ObjectNode run, boolean asks) {
        ObjectNode task = Json.object();
        task.set("taskId", run.get("id"));
        task.put("status", status(incoming, run, asks)).put("statusMessage", message(incoming, run));
        task.set("createdAt", run.get("created_at"));
        task.set("lastUpdatedAt", run.get("updated_at"));
        return task.putNull(incoming.modern() ? "ttlMs" : "ttl")
                .put(incoming.modern() ? "pollIntervalMs" : "pollInterval", POLL_MILLIS);
    }

    /** A failure of a run is a result of its task; only the form with a handshake has a state of its own for it. */
    private static String status(Incoming incoming, ObjectNode run, boolean asks) {
        return switch (RunState.of(run.get("state").stringValue())) {
            case COMPLETED -> "completed";
            case FAILED -> incoming.modern() ? "completed" : "failed";
            case CANCELLED, SKIPPED -> "cancelled";
            case CREATED, PENDING, PLANNING, AWAITING_APPROVAL, READY, RUNNING, PAUSED, BUDGET_EXCEEDED, ESCALATED,
                    RESUMING, RETRYING ->
                asks ? "input_required" : "working";
        };
    }

    private String message(Incoming incoming, ObjectNode run) {
        String state = "The run is " + run.get("state").stringValue();
        if (run.path("error_message").isString()) {
            return state + ": " + run.get("error_message").stringValue();
        }
        return OfferedRunDocuments.waits(run) && !OfferedRunDocuments.ended(run)
                ? state + " and waits for a person: " + documents.links().inbox(incoming.request(),
                        UUID.fromString(run.get("id").stringValue()))
                : state;
    }
}
