package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.inbox.InboxItems;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.engine.store.read.InboxReader.Filter;
import io.keelson.server.tenant.auth.Scope;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Inbox items of a run as forms that a client shows to its user. Only a key with the scope {@code approve} gets them: the
 * client of another one may be the agent that asks.
 */
record InboxQuestions(InboxItems items, InboxDecisions decisions) {

    /** Kinds that a form of plain fields can answer. */
    private static final Set<String> KINDS = Set.of("plan_approval", "result_acceptance", "approval_step",
            "call_approval", "question", "task_review");
    private static final Set<String> PLAIN = Set.of("string", "number", "integer", "boolean");
    private static final int MAX = 100;
    private static final int MAX_DATA = 2_000;

    private static final String FORM = """
            {"type": "object", "required": ["decision"], "properties": {
              "decision": {"type": "string", "title": "Decision", "enum": ["accept", "reject"]},
              "reason": {"type": "string", "title": "Reason", "maxLength": 10000}}}""";

    /** The forms by their keys; empty where nothing waits that this client may answer. */
    ObjectNode requests(Incoming incoming, ObjectNode run) {
        ObjectNode requests = Json.object();
        if (incoming.modern() && incoming.takesForms() && incoming.request().has(Scope.APPROVE)) {
            waiting(incoming, run).forEach(item -> requests.set(key(item), request(item)));
        }
        return requests;
    }

    private List<JsonNode> waiting(Incoming incoming, ObjectNode run) {
        if (!OfferedRunDocuments.waits(run)) {
            return List.of();
        }
        Filter ofRun = new Filter(null, UUID.fromString(run.get("id").stringValue()), null, false, false, true);
        return items.page(incoming.workspace(), ofRun, null, MAX).get("items").valueStream()
                .filter(item -> KINDS.contains(item.path("kind").asString(""))).toList();
    }

    /** Not the item's id alone: a run may wait for the approval of a second plan. */
    private static String key(JsonNode item) {
        return item.get("id").stringValue() + "." + item.get("created_at").stringValue();
    }

    private static ObjectNode request(JsonNode item) {
        ObjectNode request = Json.object().put("method", "elicitation/create");
        ObjectNode params = request.putObject("params").put("mode", "form").put("message", message(item));
        params.set("requestedSchema", form(item));
        return request;
    }

    private static String message(JsonNode item) {
        String data = item.path("kind").asString("").equals("call_approval") ? "\n" + item.path("data") : "";
        return SafeText.clean(item.get("question").stringValue() + "\nAccept: " + item.get("on_accept").stringValue()
                + ". Reject: " + item.get("on_reject").stringValue() + "."
                + data.substring(0, Math.min(data.length(), MAX_DATA)));
    }

    private static ObjectNode form(JsonNode item) {
        ObjectNode form = OfferedTool.schema(FORM);
        if (isQuestion(item)) {
            ObjectNode answer = form.withObject("properties").putObject("answer").put("title", "Answer");
            JsonNode schema = item.path("data").path("schema");
            if (isPlain(schema)) {
                answer.setAll((ObjectNode) schema);
            } else {
                answer.put("type", "string");
            }
        }
        return form;
    }

    private static boolean isQuestion(JsonNode item) {
        return item.path("kind").asString("").equals("question");
    }

    private static boolean isPlain(JsonNode schema) {
        return schema.isObject() && PLAIN.contains(schema.path("type").asString(""));
    }

    /**
     * Decides as the client's user has. Answers to questions that no longer wait, and refusals to answer, change nothing.
     *
     * @param responses by the keys of {@link #requests}
     * @throws RpcError when an answer does not fit its form
     */
    void answer(Incoming incoming, ObjectNode run, ObjectNode responses) throws InterruptedException {
        incoming.require(Scope.APPROVE);
        for (JsonNode item : waiting(incoming, run)) {
            JsonNode response = responses.path(key(item));
            if (response.path("action").asString("").equals("accept")) {
                ObjectNode content = checked(item, response.path("content"));
                if (item.path("gate").isInt()) {
                    content.set("gate", item.get("gate"));
                }
                boolean accept = content.get("decision").stringValue().equals("accept");
                decisions.decide(incoming.request(), item.get("id").stringValue(), accept, content);
            }
        }
    }

    private static ObjectNode checked(JsonNode item, JsonNode content) {
        List<DeclaredSchema.Flaw> flaws = new DeclaredSchema(form(item)).check(content);
        if (!flaws.isEmpty() || !(content instanceof ObjectNode given)) {
            throw RpcError.invalid("the response to " + key(item) + " does not fit its form: "
                    + (flaws.isEmpty() ? "it has no content" : flaws.getFirst().message()));
        }
        ObjectNode said = given.deepCopy().retain("decision", "reason", "answer");
        if (isQuestion(item) && said.has("answer") && item.path("data").path("schema").isObject()
                && !isPlain(item.path("data").path("schema"))) {
            said.set("answer", json(item, said.get("answer").stringValue()));
        }
        return said;
    }

    private static JsonNode json(JsonNode item, String text) {
        try {
            return OutsideJson.read(text.getBytes(StandardCharsets.UTF_8));
        } catch (JacksonException e) {
            throw RpcError.invalid("the answer to " + key(item) + " must be JSON by the schema of the question");
        }
    }
}
