package io.keelson.server.api.http.inbox;

import io.keelson.api.inbox.InboxDecision;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.InboxReader.Assignment;
import io.keelson.server.engine.store.read.InboxReader.Filter;
import io.keelson.server.tenant.auth.KeyStore;
import io.keelson.server.tenant.auth.Scope;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The inbox of a workspace: items, counts and assignments. */
public final class InboxActions {

    /** In place of a name, which begins with neither. */
    private static final String CALLER = "@me";
    private static final String UNASSIGNED = "@none";

    /** Absent members stay unchanged; null removes the assignee, or restores the due time of the run's own rule. */
    private final InboxItems items;
    private final KeyStore keys;
    private final KeyedTransaction transaction;

    public InboxActions(InboxItems items, KeyStore keys, KeyedTransaction transaction) {
        this.items = items;
        this.keys = keys;
        this.transaction = transaction;
    }

    public void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/inbox", this::list);
        table.getAlso(Scope.RUNS_READ, "/inbox/stats", this::stats);
        table.get(Scope.RUNS_READ, "/inbox/{id}", this::one);
        table.post(Scope.APPROVE, "/inbox/{id}/assign", InboxDecision.Assignment.class, this::assign);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        String kind = query.text("kind");
        UUID run = query.id("run_id");
        String assignee = query.text("assignee");
        boolean overdue = query.flag("overdue");
        Filter filter = new Filter(kind, run, UNASSIGNED.equals(assignee) ? null : named(request, assignee),
                UNASSIGNED.equals(assignee), overdue, query.flag("each"));
        return ApiResponse.ok(items.page(request.workspace(), filter, query.text("cursor"), query.limit()));
    }

    private static @Nullable String named(ApiRequest request, @Nullable String assignee) {
        return CALLER.equals(assignee) ? request.actor().id() : assignee;
    }

    /** Times and counts, no durations: as long as nothing changes, the answer does not. */
    private ApiResponse stats(ApiRequest request) {
        List<ObjectNode> rows = items.stats(request.workspace());
        ObjectNode stats = Json.object();
        for (String count : List.of("count", "overdue", "unassigned")) {
            stats.put(count.equals("count") ? "total" : count, rows.stream().mapToInt(row -> row.get(count).asInt())
                    .sum());
        }
        for (String time : List.of("oldest_at", "next_due_at")) {
            stats.put(time, rows.stream().map(row -> row.get(time)).filter(each -> !each.isNull())
                    .map(each -> each.stringValue()).min(String::compareTo).orElse(null));
        }
        ObjectNode kinds = stats.putObject("by_kind");
        InboxKind.words().forEach(kind -> kinds.put(kind, rows.stream()
                .filter(row -> row.get("kind").stringValue().equals(kind)).mapToInt(row -> row.get("count").asInt())
                .sum()));
        return ApiResponse.resource(stats);
    }

    private ApiResponse one(ApiRequest request) {
        InboxItems.Id id = InboxItems.id(request);
        return ApiResponse.resource(InboxAnswers.addTo(items.require(request.workspace(), id)));
    }

    private ApiResponse assign(ApiRequest request, InboxDecision.Assignment body) {
        InboxItems.Id id = InboxItems.id(request);
        String who = body.assignee() == null ? null : body.assignee().orElse(null);
        String assignee = UNASSIGNED.equals(who) ? null : named(request, who);
        Instant due = body.dueAt() == null ? null : body.dueAt().orElse(null);
        if (body.assignee() == null && body.dueAt() == null) {
            throw ApiProblem.of("REQUIRED", "/assignee",
                    "assignee or due_at is required; null removes the current value");
        }
        return transaction.answer(request, c -> {
            if (items.item(c, request.workspace(), id).isEmpty()) {
                throw InboxItems.notFound(id.text());
            }
            if (assignee != null && !keys.knows(c, request.workspace(), assignee)) {
                throw ApiProblem.of("UNKNOWN_PRINCIPAL", "/assignee",
                        "the workspace has no principal '" + Excerpt.piece(assignee) + "'");
            }
            if (!items.inbox().assign(c, request.workspace(), id.kind().wire(), id.subject(),
                    new Assignment(body.assignee() == null, assignee, body.dueAt() == null, due,
                            request.actor().id()))) {
                throw InboxItems.notFound(id.text());
            }
            return ApiResponse.ok(items.item(c, request.workspace(), id)
                    .orElseThrow(() -> InboxItems.notFound(id.text())));
        });
    }
}
