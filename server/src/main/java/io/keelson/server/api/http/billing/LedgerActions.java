package io.keelson.server.api.http.billing;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.Verification;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.money.Discrepancy;
import io.keelson.server.tenant.money.LedgerReader;
import io.keelson.server.tenant.money.LedgerVerification;
import io.keelson.server.tenant.money.Money;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The ledger: read in pages, or whole as CSV. */
public final class LedgerActions {

    private static final String CSV = "text/csv";

    private final Reads reads;
    private final Money money;

    public LedgerActions(Reads reads, Money money) {
        this.reads = reads;
        this.money = money;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.CREDITS_READ, "/ledger", this::list);
        table.get(Scope.CREDITS_READ, "/ledger/verify", this::verify);
        table.getAlso(Scope.CREDITS_READ, "/runs/{id}/ledger", this::ofRun);
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        LedgerReader.Filter filter = new LedgerReader.Filter(query.text("type"), query.time("from"), query.time("to"));
        UUID workspace = request.workspace();
        if (csv(request)) {
            return csv("ledger", (after, limit) -> money.entries().oldestFirst(workspace, filter, after, limit));
        }
        ListCursor cursor = new ListCursor("ledger");
        Long before = cursor.read(query, Long::valueOf);
        int limit = query.limit();
        return page(money.entries().newestFirst(workspace, filter, before, limit + 1), limit, cursor);
    }

    /** Verifies the caller's workspace, or with {@code all=true} all of them, for operators. */
    private ApiResponse verify(ApiRequest request) {
        boolean all = request.query().flag("all");
        if (all) {
            request.require(Scope.OPERATOR);
        }
        LedgerVerification.Report report = money.audit().verify(all ? null : request.workspace());
        Discrepancy found = report.discrepancy();
        return ApiResponse.ok(Json.document(new Verification(found == null, report.entries(), report.attempts(),
                report.workspaces(), found == null ? null : discrepancy(found))));
    }

    private static Verification.Discrepancy discrepancy(Discrepancy found) {
        return new Verification.Discrepancy(found.kind().wire(), found.workspaceId().toString(),
                Objects.toString(found.runId(), null), found.attempt(), Objects.toString(found.stepId(), null),
                found.figure(), Json.plain(found.expected()),
                found.actual() == null ? null : Json.plain(found.actual()), found.message());
    }

    private ApiResponse ofRun(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        UUID workspace = request.workspace();
        Query query = request.query();
        if (csv(request)) {
            reads.requireRun(workspace, run);
            return csv("ledger-" + run, (after, limit) -> money.entries().ofRun(workspace, run, after, limit));
        }
        ListCursor cursor = new ListCursor("ledger " + run);
        Long after = cursor.read(query, Long::valueOf);
        int limit = query.limit();
        reads.requireRun(workspace, run);
        return page(money.entries().ofRun(workspace, run, after == null ? 0 : after, limit + 1), limit, cursor);
    }

    /** As the query says; where it says nothing, as the request accepts. */
    private static boolean csv(ApiRequest request) {
        String format = request.query().text("format");
        boolean csv = format == null ? accepts(request.header("Accept")) : format.equals("csv");
        for (String paging : List.of("limit", "cursor")) {
            if (csv && request.query().given(paging)) {
                throw Query.invalid(paging, "is not for CSV, which has all entries");
            }
        }
        return csv;
    }

    private static boolean accepts(@Nullable String header) {
        return header != null && header.toLowerCase(Locale.ROOT).strip().startsWith(CSV);
    }

    private static ApiResponse page(List<LedgerEntry> found, int limit, ListCursor cursor) {
        List<LedgerEntry> shown = found.subList(0, Math.min(limit, found.size()));
        return ApiResponse.ok(Lists.page(shown.stream().map(Json::document).toList(),
                found.size() <= limit ? null : cursor.write(Long.toString(shown.getLast().id()))));
    }

    private static ApiResponse csv(String name, LedgerCsv.Source source) {
        return ApiResponse.stream(CSV + "; charset=utf-8", -1, LedgerCsv.stream(source))
                .header("Content-Disposition", "attachment; filename=\"" + name + ".csv\"")
                .header("Cache-Control", "private, no-cache");
    }
}
