package io.keelson.server.annex.notice;

import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.inbox.InboxKind;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.json.Json;
import io.keelson.server.outlet.notice.Notice;
import io.keelson.server.outlet.notice.Notices;
import io.keelson.server.tenant.secret.SecretStore;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Writes notices: what happened in which run, the question that waits for an answer, and links. */
final class NoticeWriter {

    private static final int MAX_DETAIL = 800;

    private final ApiParts api;
    private final String base;
    private final SecretStore keys;
    private final Duration linkTime;
    private final Clock clock;

    /**
     * @param base address at which browsers find the server, without a trailing slash
     * @param linkTime how long a link for an answer works
     */
    NoticeWriter(ApiParts api, String base, SecretStore keys, Duration linkTime, Clock clock) {
        this.api = api;
        this.base = base;
        this.keys = keys;
        this.linkTime = linkTime;
        this.clock = clock;
    }

    /** The notice of a delivery's body, as {@link Notices#write} has it. */
    @Nullable Notice write(Notices.Target target, String body) {
        JsonNode message = Json.read(body);
        String type = message.path("type").asString("");
        JsonNode event = message.path("data");
        if (!event.path("run_id").isString()) {
            return new Notice("Test of notifications", "Keelson sends messages of this workspace here.", List.of(),
                    List.of(new Notice.Link("Open the dashboard", base + "/ui/")));
        }
        return Tenancy.<@Nullable Notice, RuntimeException>within(target.workspace(), () -> write(target, type, event));
    }

    private @Nullable Notice write(Notices.Target target, String type, JsonNode event) {
        UUID run = UUID.fromString(event.get("run_id").stringValue());
        String name = event.path("run_name").asString("");
        JsonNode payload = event.path("payload");
        boolean asks = type.equals("approval.needed") || type.equals("escalation.opened")
                || type.equals("run_budget_exceeded");
        ObjectNode item = asks ? question(target.workspace(), event, run).orElse(null) : null;
        if (item != null && AnswerPages.hasApproved(item, target.recipient())) {
            return null;
        }
        List<Notice.Fact> facts = new ArrayList<>();
        facts.add(new Notice.Fact("Run", name));
        cost(target.workspace(), run).ifPresent(cost -> facts.add(new Notice.Fact("Cost", cost)));
        List<Notice.Link> links = new ArrayList<>();
        String text = payload.path("message").asString(payload.path("error_message").asString(""));
        if (item != null) {
            if (item.path("approvals").isObject()) {
                facts.add(new Notice.Fact("Approvals", AnswerPages.approvals(item.path("approvals"))));
            }
            facts.add(new Notice.Fact("If accepted", item.path("on_accept").asString("")));
            facts.add(new Notice.Fact("If rejected", item.path("on_reject").asString("")));
            text = item.path("question").asString("") + detail(item);
            AnswerLink answer = link(target, run, item);
            links.add(answer == null
                    ? new Notice.Link("Open the question", base + "/ui/inbox?item=" + item.path("id").asString(""))
                    : new Notice.Link("Answer", base + AnswerMount.PATH + "/" + answer.text(keys)));
        } else if (asks) {
            text = "It waits for no decision any more." + (text.isEmpty() ? "" : "\n" + text);
        }
        links.add(new Notice.Link("Open the run", base + "/ui/runs/" + run));
        return new Notice(asks && item == null ? name + ": the question is answered" : title(type, name, payload),
                text, facts, links);
    }

    private static String title(String type, String run, JsonNode payload) {
        return switch (type) {
            case "approval.needed" -> run + " waits for your decision";
            case "escalation.opened" -> run + " has a ticket";
            case "run_budget_exceeded" -> run + " has reached its limit";
            case "run.budget_warning" -> run + " has used " + Math.round(payload.path("percent_used").asDouble(0))
                    + " % of its soft limit";
            case "run.failed" -> run + " has failed";
            case "run.completed" -> run + " is completed";
            case "run.completed_with_failures" -> run + " is completed with failures";
            case "run.cancelled" -> run + " is cancelled";
            default -> run + ": " + type;
        };
    }

    private static String detail(ObjectNode item) {
        JsonNode body = item.path("body");
        String detail = DataText.of(body.isString() ? body : item.path("data"), MAX_DETAIL);
        return detail.isEmpty() ? "" : "\n\n" + detail;
    }

    private @Nullable AnswerLink link(Notices.Target target, UUID run, ObjectNode item) {
        String recipient = target.recipient();
        List<AnswerLink.Choice> choices = AnswerLink.Choice.of(InboxKind.of(item.get("kind").stringValue()));
        if (recipient == null || choices.isEmpty()) {
            return null;
        }
        Instant now = clock.instant();
        return new AnswerLink(target.workspace(), target.endpoint(), recipient, run, item.get("id").stringValue(),
                item.path("gate").isInt() ? (Integer) item.get("gate").intValue() : null, choices, now,
                now.plus(linkTime));
    }

    /** The question of an event, if it waits. */
    private Optional<ObjectNode> question(UUID workspace, JsonNode event, UUID run) {
        return switch (event.path("event_type").asString("")) {
            case "run_plan_ready" -> waiting(workspace, run, InboxKind.PLAN_APPROVAL);
            case "run_acceptance_requested" -> waiting(workspace, run, InboxKind.RESULT_ACCEPTANCE);
            case "run_budget_exceeded" -> waiting(workspace, run, InboxKind.BUDGET);
            case "task_human_review_requested" -> waiting(workspace, id(event.path("task_id")), InboxKind.TASK_REVIEW);
            case "escalation_opened" ->
                waiting(workspace, id(event.path("payload").path("ticket_id")), InboxKind.ESCALATION);
            case "step_approval_requested" -> waiting(workspace, id(event.path("step_id")), InboxKind.APPROVAL_STEP,
                    InboxKind.CALL_APPROVAL, InboxKind.QUESTION);
            case "approval_voted" -> InboxKind.words().contains(event.at("/payload/kind").asString(""))
                    ? waiting(workspace, id(event.at("/payload/subject")),
                            InboxKind.of(event.at("/payload/kind").stringValue()))
                    : Optional.empty();
            default -> Optional.empty();
        };
    }

    private static @Nullable UUID id(JsonNode text) {
        return text.isString() ? UUID.fromString(text.stringValue()) : null;
    }

    private Optional<ObjectNode> waiting(UUID workspace, @Nullable UUID subject, InboxKind... kinds) {
        if (subject == null) {
            return Optional.empty();
        }
        for (InboxKind kind : kinds) {
            Optional<ObjectNode> item = api.inbox().items().about(workspace, kind, subject);
            if (item.isPresent()) {
                return item;
            }
        }
        return Optional.empty();
    }

    private Optional<String> cost(UUID workspace, UUID run) {
        return api.reads().<Optional<ObjectNode>>read((runs, c) -> runs.run(c, workspace, run)).map(found -> {
            String limit = found.path("hard_limit_usd").asString("");
            return found.path("total_cost").asString("") + (limit.isEmpty() ? "" : " of " + limit) + " credits";
        });
    }
}
