package io.keelson.server.api.http.inbox;

import io.keelson.core.decide.TicketRow;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.policy.CallGate;
import io.keelson.server.api.http.runs.ProposalActions;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.IdTime;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.execute.TurnText;
import io.keelson.server.engine.store.read.InboxReader;
import io.keelson.server.engine.store.read.InboxReader.Filter;
import io.keelson.server.engine.store.read.InboxReader.Place;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** Inbox items for people: the question, and the effect of either answer. */
public record InboxItems(Reads reads, Database database, InboxReader inbox) {

    /**
     * An item's id in a request.
     *
     * @param asked for a plan, a result or a budget, when the question was asked, in microseconds since 1970: a run may ask more
     *            than once; null in ids of other kinds
     */
    record Id(InboxKind kind, UUID subject, @Nullable Long asked) {

        private static final Pattern NUMBERED = Pattern.compile("(.+)_([0-9a-z]{1,12})");

        /** Its text. */
        String text() {
            return kind.prefix() + subject + (asked == null ? "" : "_" + IdTime.text(asked));
        }

        /** The id of that text; null where it has not the form of one. */
        static @Nullable Id of(InboxKind kind, String text) {
            String bare = text.startsWith(kind.prefix()) ? text.substring(kind.prefix().length()) : "";
            Matcher numbered = NUMBERED.matcher(bare);
            boolean hasTime = kind.gate() != null && numbered.matches();
            UUID subject = IdKind.uuid(hasTime ? numbered.group(1) : bare);
            return subject == null ? null
                    : new Id(kind, subject, hasTime ? (Long) IdTime.micros(numbered.group(2)) : null);
        }

        /** The id of a row of the inbox. */
        static Id of(ObjectNode row) {
            InboxKind kind = InboxKind.of(row.get("kind").stringValue());
            return new Id(kind, UUID.fromString(row.get("subject").stringValue()),
                    kind.gate() == null ? null : row.get("sort_since").longValue());
        }

        /** {@link #asked} as a time; null where it has none. */
        @Nullable Instant askedAt() {
            return asked == null ? null : IdTime.of(asked);
        }
    }

    private Page<ObjectNode> rows(UUID workspace, Filter filter, @Nullable Place after, int limit) {
        TxFunction<Page<ObjectNode>> work = c -> inbox.items(c, workspace, filter, after, limit);
        return database.withConnection(work);
    }

    /**
     * A page of what waits, as documents.
     *
     * @param cursor of the page before; null for the first page
     * @throws ApiProblem when the cursor is of another list
     */
    public ObjectNode page(UUID workspace, Filter filter, @Nullable String cursor, int limit) {
        ListCursor list = new ListCursor("inbox");
        Page<ObjectNode> found = rows(workspace, filter, list.read(cursor, InboxItems::place), limit);
        return Lists.page(found, list, item -> text(Place.of(item)),
                filter.each() ? InboxItems::shown : InboxItems::firstOfItsCause);
    }

    private static ObjectNode firstOfItsCause(ObjectNode row) {
        ObjectNode item = shown(row);
        int alike = item.at("/data/alike").asInt(1);
        return alike == 1 ? item
                : item.put("question",
                        alike + " steps or tasks failed alike, the first: " + item.get("question").stringValue());
    }

    private static String text(Place place) {
        return place.due() + "/" + place.since() + "/" + place.subject();
    }

    private static Place place(String text) {
        String[] parts = text.split("/", -1);
        return new Place(Long.parseLong(parts[0]), Long.parseLong(parts[1]), UUID.fromString(parts[2]));
    }

    List<ObjectNode> stats(UUID workspace) {
        TxFunction<List<ObjectNode>> work = c -> inbox.stats(c, workspace);
        return database.withConnection(work);
    }

    /**
     * The waiting item with that id.
     *
     * @throws ApiProblem when nothing does
     */
    ObjectNode require(UUID workspace, Id id) {
        TxFunction<Optional<ObjectNode>> work = c -> item(c, workspace, id);
        return database.withConnection(work).orElseThrow(() -> id.kind().gate() == null ? notFound(id.text())
                : notFound(id, waiting(workspace, id)));
    }

    /**
     * Before an answer to a question that a run may ask more than once.
     *
     * @throws ApiProblem when the id names no question, or another one about the same run waits
     */
    void requireNoOther(UUID workspace, Id id) {
        Id waits = waiting(workspace, id);
        if (id.asked() == null) {
            throw notFound(id, waits);
        }
        if (waits != null && !waits.equals(id)) {
            throw ApiProblem.of(ErrorCode.GATE_CHANGED, "another question about the run's " + subject(id)
                    + " waits now: " + waits.text());
        }
    }

    /** The approvals of a question that waits, and their required number; missing for a question that one person decides. */
    JsonNode approvals(UUID workspace, Id id) {
        TxFunction<Optional<ObjectNode>> work = c -> item(c, workspace, id);
        return database.withConnection(work).map(item -> item.path("approvals"))
                .orElse(MissingNode.getInstance());
    }

    /** The question of the same kind and subject that waits; null if absent. */
    @Nullable Id waiting(UUID workspace, Id id) {
        TxFunction<Optional<ObjectNode>> work = c -> inbox.item(c, workspace, id.kind().wire(), id.subject());
        return database.withConnection(work).map(Id::of).orElse(null);
    }

    private static ApiProblem notFound(Id id, @Nullable Id waits) {
        return ApiProblem.of(ErrorCode.INBOX_ITEM_NOT_FOUND, "no inbox item " + id.text() + (waits == null
                ? "; no question about the run's " + subject(id) + " waits"
                : "; the question about the run's " + subject(id) + " that waits is " + waits.text()));
    }

    private static String subject(Id id) {
        return Objects.requireNonNull(id.kind().gate()).noun();
    }

    /** The item of that id, as a document; empty if it does not wait. */
    public Optional<ObjectNode> find(UUID workspace, String id) {
        Id named = id(id);
        TxFunction<Optional<ObjectNode>> work = c -> item(c, workspace, named);
        return database.withConnection(work);
    }

    /** The question of a kind about a subject that waits, as a document; empty if there is none. */
    public Optional<ObjectNode> about(UUID workspace, InboxKind kind, UUID subject) {
        TxFunction<Optional<ObjectNode>> work = c -> inbox.item(c, workspace, kind.wire(), subject);
        return database.withConnection(work).map(InboxItems::shown);
    }

    /** Reads an item in a transaction. */
    Optional<ObjectNode> item(Connection c, UUID workspace, Id id) throws SQLException {
        return inbox.item(c, workspace, id.kind().wire(), id.subject()).filter(row -> Id.of(row).equals(id))
                .map(InboxItems::shown);
    }

    /**
     * The server, its tool and its questions, of an elicitation that waits.
     *
     * @throws ApiProblem when it does not wait any more
     */
    JsonNode asked(UUID workspace, Id id) {
        TxFunction<Optional<ObjectNode>> work = c -> inbox.item(c, workspace, id.kind().wire(), id.subject());
        return database.withConnection(work).orElseThrow(() -> notFound(id.text())).path("asked");
    }

    /**
     * The id in the path.
     *
     * @throws ApiProblem where it has not the form of one
     */
    static Id id(ApiRequest request) {
        return id(request.pathText("id"));
    }

    /** The id of that text. */
    static Id id(String text) {
        for (InboxKind kind : InboxKind.values()) {
            Id id = Id.of(kind, text);
            if (id != null) {
                return id;
            }
        }
        throw notFound(text);
    }

    static ApiProblem notFound(String id) {
        return ApiProblem.of(ErrorCode.INBOX_ITEM_NOT_FOUND, "no inbox item " + Excerpt.piece(id));
    }

    /** A row of the inbox as a document. */
    static ObjectNode shown(ObjectNode row) {
        Id named = Id.of(row);
        InboxKind kind = named.kind();
        UUID subject = named.subject();
        String id = named.text();
        ObjectNode item = Json.object().put("id", id);
        for (String member : List.of("kind", "run_id", "run_name", "run_state", "task_id", "task_key", "task_title",
                "step_id", "step_name")) {
            item.set(member, row.get(member));
        }
        item.put("question", question(kind, row));
        item.put("on_accept", onAccept(kind, row)).put("on_reject", onReject(kind, row));
        for (String member : List.of("created_at", "due_at", "overdue", "reminder_at", "assignee", "severity",
                "error_code", "feedback", "gate", "hard_limit_usd")) {
            item.set(member, row.get(member));
        }
        item.set("body", row.get("proposal_body"));
        if (kind == InboxKind.ELICITATION) {
            item.put("body", Elicitation.warning(row.path("asked")));
        }
        item.set("data", switch (kind) {
            case PROPOSAL -> row.get("proposal_data");
            case ELICITATION -> Elicitation.shown(row.path("asked"));
            case TOOL_CHANGE -> ToolChange.shown(row.path("asked"));
            case DEAD_LETTER -> row.get("asked");
            case APPROVAL_STEP -> row.get("input");
            case CALL_APPROVAL -> call(row);
            case QUESTION -> asked(row);
            case PLAN_APPROVAL, RESULT_ACCEPTANCE, TASK_REVIEW, BUDGET -> row.get("subject_data");
            case ESCALATION -> replan(row) ? PlanChange.document((ObjectNode) row.get("subject_data")) : failure(row);
        });
        if (row.path("approvals").isObject()) {
            item.set("approvals", row.get("approvals"));
        }
        String self = "/api/v1/inbox/" + id;
        item.putObject("links").put("accept", self + "/accept").put("reject", self + "/reject")
                .put("assign", self + "/assign").put("subject", "/api/v1" + subject(kind, row, subject))
                .put("run", row.get("run_id").isNull() ? null : "/api/v1/runs/" + row.get("run_id").stringValue());
        return item;
    }

    /** The failure, and the reason of the question, also in words. */
    private static ObjectNode failure(ObjectNode row) {
        ObjectNode data = ((ObjectNode) row.get("subject_data")).deepCopy();
        if (undo(row)) {
            data.put("undo", true);
        }
        return data.put("why", TicketRow.words(text(row, "reason")));
    }

    /** A question of an agent, with the fields of its form in the agent's order, which the stored input has lost. */
    private static JsonNode asked(ObjectNode row) {
        JsonNode gate = row.get("gate_reason");
        String written = gate.isNull() ? null : CallGate.of(gate.stringValue()).detail();
        return TurnText.meant(written == null ? row.get("input") : Json.read(written));
    }

    /** The call that will be made, with its input. */
    private static ObjectNode call(ObjectNode row) {
        JsonNode input = TurnText.meant(row.get("input"));
        ObjectNode call = Json.object().put("tool", text(row, "step_tool"));
        call.set("input", input);
        CallGate gate = CallGate.of(row.get("gate_reason").stringValue());
        return call.put("input_sha256", Json.digest(input)).put("reason", gate.reason().wire())
                .put("detail", gate.detail());
    }

    private static String subject(InboxKind kind, ObjectNode row, UUID subject) {
        return switch (kind) {
            case PLAN_APPROVAL, RESULT_ACCEPTANCE, BUDGET -> "/runs/" + row.get("run_id").stringValue();
            case APPROVAL_STEP, CALL_APPROVAL, QUESTION, ELICITATION -> "/steps/" + subject;
            case TASK_REVIEW -> "/tasks/" + subject;
            case ESCALATION -> "/escalations/" + subject;
            case PROPOSAL -> "/proposals/" + subject;
            case TOOL_CHANGE -> "/mcp-servers/" + row.path("asked").path("server").asString("");
            case DEAD_LETTER -> "/triggers/" + row.path("asked").path("trigger_id").asString("");
        };
    }

    private static String question(InboxKind kind, ObjectNode row) {
        String run = "'" + text(row, "run_name") + "'";
        return switch (kind) {
            case PLAN_APPROVAL -> "Approve the plan of " + run + "?";
            case RESULT_ACCEPTANCE -> "Accept the result of " + run + "?";
            case APPROVAL_STEP -> question(row);
            case CALL_APPROVAL -> "May the agent call '" + text(row, "step_tool") + "'?";
            case QUESTION -> question(row);
            case TASK_REVIEW -> "Accept the output of task '" + text(row, "task_key") + "'?";
            case ESCALATION -> replan(row) && !unpriced(row) ? "Carry out the new plan of " + run + "?"
                    : text(row, "message");
            case BUDGET -> run + budget(row);
            case PROPOSAL -> text(row, "proposal_title");
            case ELICITATION -> "The MCP server '" + row.path("asked").path("server").asString("") + "' asks: "
                    + Elicitation.messages(row.path("asked"));
            case TOOL_CHANGE -> ToolChange.question(row.path("asked"));
            case DEAD_LETTER -> dead(row.path("asked"));
        };
    }

    private static String dead(JsonNode asked) {
        int count = asked.path("count").asInt();
        return "Trigger '" + asked.path("trigger").asString("") + "' has given up "
                + (count == 1 ? "an event" : count + " events") + " after repeated failures. Try again?";
    }

    private static String budget(ObjectNode row) {
        List<String> tasks = exceeded(row);
        return tasks.isEmpty() ? " has reached its hard limit. Raise the limit?"
                : ": " + String.join(", ", tasks) + ". Raise the budget?";
    }

    /** The use of the task budgets that have stopped a run; empty where its own limit has. */
    private static List<String> exceeded(ObjectNode row) {
        return row.path("subject_data").path("task_budgets").valueStream()
                .filter(each -> each.path("exceeded").asBoolean(false))
                .map(each -> "task " + text((ObjectNode) each, "task") + " used " + each.path("used").asString("")
                        + " of " + each.path("budget_usd").asString("") + " credits")
                .toList();
    }

    private static String question(ObjectNode row) {
        JsonNode question = row.get("input").path("question");
        return question.isString() ? question.stringValue() : "Approve '" + text(row, "step_name") + "'?";
    }

    private static String onAccept(InboxKind kind, ObjectNode row) {
        return switch (kind) {
            case PLAN_APPROVAL -> "the run starts to execute its plan";
            case RESULT_ACCEPTANCE -> "the run is completed";
            case APPROVAL_STEP -> "the step completes, and its task continues";
            case CALL_APPROVAL -> "the call is made once, with this input or with another one that you give";
            case QUESTION -> "the agent gets the answer and continues";
            case TASK_REVIEW -> "the task is completed with this output";
            case ESCALATION -> !replan(row) ? "the failed work is tried again, and its failures no longer count"
                    : unpriced(row)
                            ? "the new plan is checked again, and carried out if its models then have prices"
                            : "the new plan takes the place of all tasks that are not completed, and the run continues";
            case BUDGET -> exceeded(row).isEmpty()
                    ? "the run continues, with a higher limit that you give or that it already has; another model may take all further"
                            + " turns instead, or the run may end with what runs now"
                    : "the run continues, if the task's budget allows it or you give a higher one";
            case PROPOSAL -> ProposalActions.changesPlan(row.path("proposal_data"))
                    ? "the planner makes a new plan of it, if the run has a planner and re-plannings left"
                    : "the decision is recorded; nothing else follows";
            case ELICITATION -> "the call is sent again with your answer";
            case TOOL_CHANGE -> "calls of the tool are made again, and models see its new description";
            case DEAD_LETTER -> "these events are decided again, by the trigger as it is now";
        };
    }

    private static String onReject(InboxKind kind, ObjectNode row) {
        return switch (kind) {
            case PLAN_APPROVAL, RESULT_ACCEPTANCE, BUDGET -> "the run fails";
            case APPROVAL_STEP -> undo(row) && UndoPlan.QUESTION.equals(text(row, "step_name"))
                    ? "it was not done, so that nothing of it is undone"
                    : "the step fails, and its task with it";
            case CALL_APPROVAL -> "the call is not made, and the agent sees the reason";
            case QUESTION -> "the agent sees that it gets no answer, and the reason";
            case TASK_REVIEW -> "the task fails, or it is done again with your reason as feedback";
            case PROPOSAL -> "the decision is recorded; nothing else follows";
            case ELICITATION -> "the call is sent again, and the server learns that the answer is declined";
            case TOOL_CHANGE -> "the tool stays held back; `keelson mcp accept` still accepts it";
            case DEAD_LETTER -> "these events stay dead; `keelson triggers replay` still decides them again";
            case ESCALATION -> replan(row)
                    ? "the new plan is dropped; the planner makes another one if it may, else the run ends by the failures of its"
                            + " old plan"
                    : undo(row) ? "the task is left not undone, and the undo continues with its other tasks"
                            : "the run fails";
        };
    }

    /** Whether it is a question of a run that undoes another. */
    private static boolean undo(ObjectNode row) {
        return row.path("undo").asBoolean(false);
    }

    /** Whether a ticket asks about a new plan. */
    static boolean replan(ObjectNode row) {
        return "replan_approval".equals(row.path("ticket_kind").asString(""));
    }

    /** Whether a model of a new plan has no price; the ticket's message says what to do. */
    private static boolean unpriced(ObjectNode row) {
        return text(row, "error_code").equals("NO_PRICE");
    }

    private static String text(ObjectNode row, String member) {
        return row.path(member).asString("");
    }
}
