package io.keelson.server.http.inbox;

import io.keelson.server.auth.Scope;
import io.keelson.server.json.Json;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The answers to an inbox item as requests, so that clients need to know no kind. */
final class InboxAnswers {

    /** What an acceptance takes beside a reason. */
    private static final Map<InboxKind, List<String>> OF_ACCEPTANCE = Map.of(InboxKind.TASK_REVIEW, List.of("gate"),
            InboxKind.BUDGET, List.of("hard_limit_usd", "tasks"), InboxKind.ELICITATION, List.of("content"),
            InboxKind.CALL_APPROVAL, List.of("input"), InboxKind.QUESTION, List.of("answer"));

    private static final Map<InboxKind, List<String>> OF_REJECTION =
            Map.of(InboxKind.TASK_REVIEW, List.of("gate", "retry"));

    private InboxAnswers() {}

    /** Adds {@code actions} to a shown item. */
    static ObjectNode addTo(ObjectNode item) {
        InboxKind kind = InboxKind.of(item.get("kind").stringValue());
        String self = item.at("/links/accept").stringValue();
        String base = self.substring(0, self.length() - "/accept".length());
        ArrayNode actions = item.putArray("actions");
        add(actions, "accept", self, Map.of(), with(OF_ACCEPTANCE, kind), item.get("on_accept").stringValue());
        add(actions, "reject", base + "/reject", Map.of(), with(OF_REJECTION, kind),
                item.get("on_reject").stringValue());
        if (kind == InboxKind.ESCALATION) {
            String resolve = item.at("/links/subject").stringValue() + "/resolve";
            add(actions, "skip", resolve, Map.of("resolution", "skip"), List.of("reason"),
                    "the run continues without the failed work");
            add(actions, "cancel", resolve, Map.of("resolution", "cancel"), List.of("reason"), "the run is cancelled");
        }
        if (kind == InboxKind.ELICITATION) {
            add(actions, "cancel", base + "/reject", Map.of(), List.of("reason"),
                    "the call is sent again, and the server learns that the person has dismissed the question");
            ((ObjectNode) actions.get(actions.size() - 1).get("body")).put("cancel", true);
        }
        add(actions, "assign", base + "/assign", Map.of(), List.of("assignee", "due_at"), null);
        return item;
    }

    private static List<String> with(Map<InboxKind, List<String>> more, InboxKind kind) {
        return Stream.concat(Stream.of("reason"), more.getOrDefault(kind, List.of()).stream()).toList();
    }

    private static void add(ArrayNode actions, String name, String href, Map<String, String> body, List<String> fields,
            @Nullable String confirm) {
        ObjectNode action = actions.addObject().put("name", name).put("method", "POST").put("href", href)
                .put("scope", Scope.APPROVE.wire());
        ObjectNode members = action.putObject("body");
        body.forEach(members::put);
        action.set("fields", Json.strings(fields));
        action.put("confirm", confirm);
    }
}
