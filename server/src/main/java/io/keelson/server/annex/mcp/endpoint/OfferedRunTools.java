package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.annex.mcp.endpoint.OfferedTool.Hints;
import io.keelson.server.annex.mcp.endpoint.OfferedTool.Outcome;
import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.inbox.InboxItems;
import io.keelson.server.api.http.inbox.InboxKind;
import io.keelson.server.api.http.runs.ExplainActions;
import io.keelson.server.api.http.runs.RunActions;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.InboxReader.Filter;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The tools that every workspace has. */
record OfferedRunTools(RunStarts starts, RecipeMissions missions, OfferedRunDocuments documents,
        ExplainActions explain, RunActions runs, InboxItems items, InboxDecisions decisions) {

    private static final int INBOX_PAGE = 50;

    private static final String START = """
            {"type": "object", "additionalProperties": false, "properties": {
              "goal": {"type": "string", "minLength": 1, "maxLength": 100000, "description": "What is to be reached; the workspace plans it"},
              "recipe": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Instead of a goal: a recipe of the workspace, by its name or id"},
              "name": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Name of the run, for people"},
              "input": {"type": "object", "description": "Values of the recipe's inputs, by name"},
              "config": {"type": "object", "description": "The run's configuration as in a mission file, such as {\\"budget\\": {\\"hard_limit_usd\\": 2}}"},
              "idempotency_key": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "\\\\S", "description": "The same key and arguments start one run within 24 hours"}
            }}""";
    private static final String OF_RUN = """
            {"type": "object", "additionalProperties": false, "required": ["run_id"], "properties": {
              "run_id": {"type": "string", "description": "Id of the run"}%s}}""";
    private static final String REASON = """
            , "reason": {"type": "string", "maxLength": 10000, "description": "For the record"}""";
    private static final String EXPLAINED = """
            {"type": "object", "required": ["run_id", "state", "reasons"], "properties": {
              "run_id": {"type": "string"},
              "state": {"type": "string"},
              "reasons": {"type": "array", "items": {"type": "object", "required": ["code", "text"], "properties": {
                "code": {"type": "string"}, "text": {"type": "string"}}}},
              "tasks_left_out": {"type": "integer", "description": "Further open tasks, whose reasons are not listed"}
            }}""";
    private static final String INBOX = """
            {"type": "object", "additionalProperties": false, "properties": {
              "run_id": {"type": "string", "description": "Only of this run"},
              "kind": {"type": "string", "enum": %s, "description": "Only of this kind"},
              "cursor": {"type": "string", "description": "next_cursor of the page before"}
            }}""";
    private static final String PAGE = """
            {"type": "object", "required": ["items"], "properties": {
              "items": {"type": "array", "items": {"type": "object", "required": ["id", "kind", "question", "run_id"], "properties": {
                "id": {"type": "string"}, "kind": {"type": "string"}, "question": {"type": "string"}, "run_id": {"type": ["string", "null"]}}}},
              "next_cursor": {"type": ["string", "null"]}
            }}""";
    private static final String ANSWER = """
            {"type": "object", "additionalProperties": false, "required": ["id", "decision"], "properties": {
              "id": {"type": "string", "description": "Id of the inbox item"},
              "decision": {"type": "string", "enum": ["accept", "reject"]},
              "reason": {"type": "string", "maxLength": 10000, "description": "For the record"},
              "answer": {"description": "To a question"},
              "content": {"type": "object", "description": "To an elicitation, by its schema"},
              "input": {"type": "object", "description": "For a call_approval: the input to make the call with instead"},
              "gate": {"type": "integer", "minimum": 1, "maximum": 2147483647, "description": "For a task_review: the attempt that is meant"},
              "retry": {"type": "boolean", "description": "For a rejected task_review: whether the task is done again"},
              "hard_limit_usd": {"type": "number", "exclusiveMinimum": 0, "description": "For a budget: the new limit"},
              "downgrade": {"type": "string", "minLength": 1, "maxLength": 200, "description": "For a budget: the model that takes all further turns of agents"},
              "finish_current": {"type": "boolean", "description": "For a budget: whether the run ends with what runs now"},
              "tasks": {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}, "description": "For a budget: new budgets of tasks in credits, by the tasks' ids in the plan"}
            }}""";
    private static final String DECIDED = """
            {"type": "object", "required": ["id", "decision", "run_id", "run_state"], "properties": {
              "id": {"type": "string"}, "kind": {"type": "string"}, "decision": {"type": "string"},
              "run_id": {"type": ["string", "null"], "description": "Null for a tool_change or a dead_letter, which are of no run"},
              "run_state": {"type": ["string", "null"]}
            }}""";

    List<OfferedTool> list() {
        String kinds = Json.strings(InboxKind.words()).toString();
        return List.of(
                tool("mission_start", "Start a mission", "Starts a durable run of a goal or of a recipe, and answers "
                        + "its id at once. The run continues without this client. It may call tools with effects and spend "
                        + "credits; what needs approval waits for a person.", Scope.RUNS_WRITE, START,
                        OfferedRunDocuments.SCHEMA, Hints.STARTS, this::start),
                tool("create_mission", "Create a mission", "The same as mission_start.", Scope.RUNS_WRITE, START,
                        OfferedRunDocuments.SCHEMA, Hints.STARTS, this::start),
                tool("mission_status", "Look at a mission", "The state of a run, its progress and cost, why it waits, "
                        + "and its output once it has ended.", Scope.RUNS_READ, OF_RUN.formatted(""),
                        OfferedRunDocuments.SCHEMA, Hints.READS, this::status),
                tool("explain", "Explain a wait", "Why a run waits: for a person, a slot, a time, a worker or another "
                        + "task.", Scope.RUNS_READ, OF_RUN.formatted(""), EXPLAINED, Hints.READS,
                        (call, given) -> document(explain.explained(call.workspace(), run(given)))),
                tool("run_cancel", "Cancel a run", "Ends a run. What its steps have already done stays.",
                        Scope.RUNS_WRITE, OF_RUN.formatted(REASON), OfferedRunDocuments.SCHEMA,
                        new Hints(false, true, true, false), this::cancel),
                tool("inbox_list", "List what waits for people", "Questions, approvals and reviews that wait for a "
                        + "person, the most urgent first.", Scope.RUNS_READ, INBOX.formatted(kinds), PAGE, Hints.READS,
                        this::inbox),
                tool("inbox_answer", "Answer an inbox item", "Decides in the name of a person what a run waits for. "
                        + "Ask the person first.", Scope.APPROVE, ANSWER, DECIDED,
                        new Hints(false, true, false, true), this::answer),
                tool("approve_plan", "Approve a plan", "Approves the plan that a run waits with, in the name of a "
                        + "person. Ask the person first.", Scope.APPROVE, OF_RUN.formatted(REASON), DECIDED,
                        new Hints(false, true, false, true),
                        (call, given) -> document(decisions.approvePlan(call.request(), run(given), given))));
    }

    private static OfferedTool tool(String name, String title, String description, Scope scope, String input,
            String output, Hints hints, OfferedTool.Handler handler) {
        ObjectNode schema = OfferedTool.schema(input);
        return new OfferedTool(name, title, description, scope, schema, new DeclaredSchema(schema),
                OfferedTool.schema(output), hints, hints == Hints.STARTS, handler);
    }

    private static Outcome document(ObjectNode json) {
        return new Outcome.Document(json);
    }

    private static UUID run(ObjectNode given) {
        String text = given.get("run_id").stringValue();
        UUID id = IdKind.RUN.parse(text);
        if (id == null) {
            throw ApiProblem.of("INVALID_VALUE", "/run_id", "must be the id of a run");
        }
        return id;
    }

    private Outcome status(Incoming call, ObjectNode given) {
        UUID run = run(given);
        ObjectNode status = documents.of(call.request(), run);
        if (!status.has("completed_at")) {
            status.set("reasons", explain.explained(call.workspace(), run).get("reasons"));
        }
        return document(status);
    }

    private Outcome start(Incoming call, ObjectNode given) throws IOException, InterruptedException {
        if (given.has("goal") == given.has("recipe")) {
            throw ApiProblem.of("REQUIRED", "/goal", "give either a goal or a recipe");
        }
        ObjectNode mission = given.deepCopy().put("start", true).put("trigger", "mcp");
        JsonNode key = mission.remove(RunStarts.KEY);
        return starts.start(call, "mission_start", key == null ? null : key.stringValue(), mission,
                () -> missions.read(call.workspace(), mission));
    }

    private Outcome cancel(Incoming call, ObjectNode given) throws InterruptedException {
        UUID run = run(given);
        runs.cancel(call.request(), run, given.path("reason").asString(null));
        return document(documents.of(call.request(), run));
    }

    private Outcome inbox(Incoming call, ObjectNode given) {
        UUID run = given.has("run_id") ? run(given) : null;
        return document(items.page(call.workspace(),
                new Filter(given.path("kind").asString(null), run, null, false, false, false),
                given.path("cursor").asString(null), INBOX_PAGE));
    }

    private Outcome answer(Incoming call, ObjectNode given) throws InterruptedException {
        return document(decisions.decide(call.request(), given.get("id").stringValue(),
                given.get("decision").stringValue().equals("accept"), given));
    }
}
