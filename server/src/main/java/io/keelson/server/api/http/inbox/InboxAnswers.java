package io.keelson.server.api.http.inbox;

import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The answers to an inbox item as requests, so that clients need to know no kind. */
final class InboxAnswers {

    /** Members of an acceptance besides the reason. */
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
        Scope scope = kind.scope();
        add(actions, scope, "accept", self, Json.object(), with(OF_ACCEPTANCE, kind),
                item.get("on_accept").stringValue());
        add(actions, scope, "reject", base + "/reject", Json.object(), with(OF_REJECTION, kind),
                item.get("on_reject").stringValue());
        if (kind == InboxKind.ESCALATION) {
            String resolve = item.at("/links/subject").stringValue() + "/resolve";
            if (item.at("/data/changes").isObject()) {
                add(actions, scope, "fail", resolve, Json.object().put("resolution", "fail"), List.of("reason"),
                        "the run fails, and the planner makes no other plan");
            } else {
                if (item.at("/data/undo").asBoolean(false)) {
                    add(actions, scope, "done", resolve, Json.object().put("resolution", "done"), List.of("reason"),
                            "you have done it by other means, and the undo continues with its other tasks");
                } else {
                    add(actions, scope, "skip", resolve, Json.object().put("resolution", "skip"), List.of("reason"),
                            "the run continues without the failed work");
                }
                int alike = item.at("/data/alike").asInt(1);
                if (alike > 1) {
                    all(actions, "try_all_again", resolve, "resume", "all " + alike
                            + " questions about this failure have this answer: the failed work is tried again");
                    all(actions, "skip_all", resolve, "skip", "all " + alike
                            + " questions about this failure have this answer: the run continues without the failed work");
                }
            }
            add(actions, scope, "cancel", resolve, Json.object().put("resolution", "cancel"), List.of("reason"),
                    "the run is cancelled");
        }
        if (kind == InboxKind.ELICITATION) {
            add(actions, scope, "cancel", base + "/reject", Json.object().put("cancel", true), List.of("reason"),
                    "the call is sent again, and the server learns that the person has dismissed the question");
        }
        if (kind == InboxKind.BUDGET && stopsRun(item)) {
            add(actions, scope, "downgrade", self, Json.object(), List.of("reason", "downgrade"),
                    "another model takes all further turns of the run's agents, within the same limit");
            add(actions, scope, "finish_current", self, Json.object().put("finish_current", true), List.of("reason"),
                    "nothing new begins, and the run ends as failed with what runs now");
        }
        if (!item.at("/approvals/votes").isEmpty()) {
            add(actions, scope, "withdraw", base + "/withdraw", Json.object(), List.of(),
                    "your approval no longer counts");
        }
        add(actions, Scope.APPROVE, "assign", base + "/assign", Json.object(), List.of("assignee", "due_at"), null);
        return item;
    }

    private static void all(ArrayNode actions, String name, String resolve, String answer, String confirm) {
        add(actions, Scope.APPROVE, name, resolve, Json.object().put("resolution", answer).put("alike", true),
                List.of("reason"), confirm);
    }

    /** Whether the limit of the run stopped it, and not the budget of a task. */
    private static boolean stopsRun(ObjectNode item) {
        return item.at("/data/task_budgets").valueStream().noneMatch(each -> each.path("exceeded").asBoolean(false));
    }

    private static List<String> with(Map<InboxKind, List<String>> more, InboxKind kind) {
        return Stream.concat(Stream.of("reason"), more.getOrDefault(kind, List.of()).stream()).toList();
    }

    private static void add(ArrayNode actions, Scope scope, String name, String href, ObjectNode body,
            List<String> fields, @Nullable String confirm) {
        ObjectNode action = actions.addObject().put("name", name).put("method", "POST").put("href", href)
                .put("scope", scope.wire());
        action.set("body", body);
        action.set("fields", Json.strings(fields));
        action.put("confirm", confirm);
    }
}
