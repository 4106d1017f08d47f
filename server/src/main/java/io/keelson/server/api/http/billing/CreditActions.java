package io.keelson.server.api.http.billing;

import io.keelson.api.money.Adjustment;
import io.keelson.api.money.Balance;
import io.keelson.api.money.Grant;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.LedgerAccount;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Idempotency;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.auth.Scope;
import io.keelson.server.tenant.money.Booking;
import io.keelson.server.tenant.money.LedgerBooking;
import io.keelson.server.tenant.money.Money;
import io.keelson.server.tenant.money.UsageReader;
import io.keelson.server.tenant.money.WorkspaceBalance;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Credits: a workspace's balance, grants, corrections and charges. */
public final class CreditActions {

    private static final Duration USUAL_PERIOD = Duration.ofDays(30);
    private static final Duration LONGEST_PERIOD = Duration.ofDays(366);

    private final Reads reads;
    private final Money money;
    private final WorkspaceStore workspaces;

    public CreditActions(Reads reads, Money money, WorkspaceStore workspaces) {
        this.reads = reads;
        this.money = money;
        this.workspaces = workspaces;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.CREDITS_READ, "/credits", this::balance);
        table.post(Scope.CREDITS_GRANT, "/credits/grants", Grant.class,
                (request, body) -> grant(request, body, request.workspace()));
        table.post(Scope.OPERATOR, "/workspaces/{id}/credits/grants", Grant.class, this::grantOther);
        table.post(Scope.CREDITS_GRANT, "/ledger/adjustments", Adjustment.class, this::adjust);
        table.get(Scope.CREDITS_READ, "/usage", this::usage);
        table.get(Scope.CREDITS_READ, "/runs/{id}/usage", this::usageOfRun);
    }

    private ApiResponse balance(ApiRequest request) {
        WorkspaceBalance balance = money.balance(request.workspace());
        return ApiResponse.resource(Json.document(new Balance(request.workspace().toString(),
                Json.plain(balance.available()), Json.plain(balance.reserved()), Json.plain(balance.spent()))));
    }

    private ApiResponse grantOther(ApiRequest request, Grant body) {
        UUID id = request.id("id", IdKind.WORKSPACE);
        if (Reads.found(workspaces.find(id), IdKind.WORKSPACE, id).closed()) {
            throw ApiProblem.of(ErrorCode.WORKSPACE_NOT_OPEN, "the workspace is closed");
        }
        return grant(request, body, id);
    }

    private ApiResponse grant(ApiRequest request, Grant body, UUID workspace) {
        return booked(money.ledger().grant(workspace, body.amount(), body.reason(), key(request), request.actor(),
                recorded(request, workspace, "credits_granted")));
    }

    private ApiResponse adjust(ApiRequest request, Adjustment body) {
        if (body.debitAccount().equals(body.creditAccount())) {
            throw ApiProblem.of("INVALID_VALUE", "/credit_account", "must be another account than debit_account");
        }
        return booked(money.ledger().adjust(request.workspace(), LedgerAccount.of(body.debitAccount()),
                LedgerAccount.of(body.creditAccount()), body.amount(), body.reason(), key(request), request.actor(),
                recorded(request, request.workspace(), "ledger_corrected")));
    }

    /** Writes the booking to the audit log. */
    private static LedgerBooking.Witness recorded(ApiRequest request, UUID workspace, String action) {
        return (c, entry) -> {
            ObjectNode detail = Json.object().put("amount", entry.amount());
            if (entry.transactionType().equals("adjustment")) {
                detail.put("from", entry.debitAccount()).put("to", entry.creditAccount());
            }
            if (entry.reason() != null) {
                detail.put("reason", entry.reason());
            }
            AuditLog.write(c, request.origin(), action, workspace, Long.toString(entry.id()), detail);
        };
    }

    /** The request's key is the entry's, which outlives the 24 hours for which requests are remembered. */
    private static String key(ApiRequest request) {
        Idempotency.Keyed keyed = request.keyed();
        return keyed == null ? UUID.randomUUID().toString() : keyed.use().id().key();
    }

    private static ApiResponse booked(Booking booking) {
        return switch (booking) {
            case Booking.Done(var entry, boolean repeated) -> repeated
                    ? ApiResponse.ok(Json.document(entry)).header(Idempotency.REPLAYED, "true")
                    : ApiResponse.json(201, Json.document(entry));
            case Booking.KeyTaken(var entry) -> throw ApiProblem.of(ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                    "the key was used for another " + entry.transactionType() + ", entry " + entry.id()
                            + " of the ledger")
                    .with("entry_id", Long.toString(entry.id()));
            case Booking.Impossible(LedgerAccount account, WorkspaceBalance balance) ->
                throw impossible(account, balance);
        };
    }

    private static ApiProblem impossible(LedgerAccount account, WorkspaceBalance balance) {
        return account == LedgerAccount.AVAILABLE
                ? ApiProblem
                        .of(ErrorCode.INSUFFICIENT_CREDITS,
                                "the workspace has only " + Amounts.credits(balance.available()))
                        .with("available", Json.plain(balance.available()).toPlainString())
                : ApiProblem.of(ErrorCode.BALANCE_OUT_OF_RANGE, "the account " + account.wire()
                        + " would be below 0 or above the maximum balance").with("account", account.wire());
    }

    private ApiResponse usage(ApiRequest request) {
        Query query = request.query();
        Instant to = Objects.requireNonNullElseGet(query.time("to"), () -> money.usage().now());
        Instant from = Objects.requireNonNullElseGet(query.time("from"), () -> to.minus(USUAL_PERIOD));
        Instant now = money.usage().now();
        if (!from.isBefore(now)) {
            throw Query.invalid("from", "is in the future: " + from + "; now is " + now);
        }
        if (!from.isBefore(to) || Duration.between(from, to).compareTo(LONGEST_PERIOD) > 0) {
            throw Query.invalid("from", "must be before 'to' by at most " + LONGEST_PERIOD.toDays() + " days");
        }
        return report(request, by(query, UsageReader.By.DAY), query.id("run_id"), from, to);
    }

    /** In all its attempts. */
    private ApiResponse usageOfRun(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        reads.requireRun(request.workspace(), run);
        return report(request, by(request.query(), UsageReader.By.TASK), run, Instant.EPOCH, money.usage().now());
    }

    private static List<UsageReader.By> by(Query query, UsageReader.By absent) {
        List<UsageReader.By> by = query.texts("by").stream()
                .map(each -> UsageReader.By.valueOf(each.toUpperCase(Locale.ROOT))).distinct().toList();
        return by.isEmpty() ? List.of(absent) : by;
    }

    private ApiResponse report(ApiRequest request, List<UsageReader.By> by, @Nullable UUID run, Instant from,
            Instant to) {
        UsageReader.Report report = money.usage().report(request.workspace(), by, run, from, to);
        ObjectNode document = Json.object().put("by", wire(by.getFirst()))
                .put("then_by", by.size() == 1 ? null : wire(by.getLast())).put("from", Json.time(report.from()))
                .put("to", Json.time(report.to()));
        ArrayNode items = document.putArray("items");
        report.lines().forEach(line -> {
            ObjectNode item = items.addObject();
            for (int i = 0; i < by.size(); i++) {
                item.put(wire(by.get(i)), line.of().get(i));
            }
            if (by.contains(UsageReader.By.RUN)) {
                item.put("run_name", line.runName());
            }
            used(item, line);
        });
        document.set("total", used(Json.object(), report.total()));
        return ApiResponse.ok(document.put("complete", report.complete()));
    }

    private static String wire(UsageReader.By by) {
        return by.name().toLowerCase(Locale.ROOT);
    }

    private static ObjectNode used(ObjectNode document, UsageReader.Line line) {
        document.put("credits", Json.plain(line.credits())).put("estimated_credits", Json.plain(line.estimated()))
                .put("tokens", line.tokens().total());
        document.set("usage", Json.tree(line.tokens().members()));
        return document.put("charges", line.charges()).put("runs", line.runs());
    }
}
