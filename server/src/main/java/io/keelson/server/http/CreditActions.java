package io.keelson.server.http;

import io.keelson.core.money.Account;
import io.keelson.core.money.Amounts;
import io.keelson.server.auth.Audit;
import io.keelson.server.auth.Scope;
import io.keelson.server.auth.Workspaces;
import io.keelson.server.money.Balance;
import io.keelson.server.money.Booking;
import io.keelson.server.money.Ledger;
import io.keelson.server.money.Money;
import io.keelson.server.money.Usage;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Credits: what a workspace has, grants and corrections, and what it was charged. */
final class CreditActions {

    private static final int MAX_REASON = 2_000;
    private static final Duration USUAL_PERIOD = Duration.ofDays(30);
    private static final Duration LONGEST_PERIOD = Duration.ofDays(366);
    private static final List<String> CORRECTED = List.of(Account.FUNDING.wire(), Account.AVAILABLE.wire(),
            Account.SPENT.wire());
    private static final List<String> PARTS =
            Arrays.stream(Usage.By.values()).map(by -> by.name().toLowerCase(Locale.ROOT)).toList();

    private final Money money;
    private final Workspaces workspaces;

    CreditActions(Money money, Workspaces workspaces) {
        this.money = money;
        this.workspaces = workspaces;
    }

    void addTo(Route.Table table) {
        table.get(Scope.CREDITS_READ, "/credits", this::balance);
        table.post(Scope.CREDITS_GRANT, "/credits/grants", call -> grant(call, call.workspace()));
        table.post(Scope.OPERATOR, "/workspaces/{id}/credits/grants", this::grantOther);
        table.post(Scope.CREDITS_GRANT, "/ledger/adjustments", this::adjust);
        table.get(Scope.CREDITS_READ, "/usage", this::usage);
    }

    private Answer balance(Call call) {
        call.query().done();
        Balance balance = money.balance(call.workspace());
        return Answer.resource(Json.object().put("workspace_id", call.workspace().toString())
                .put("available", Json.plain(balance.available())).put("reserved", Json.plain(balance.reserved()))
                .put("spent", Json.plain(balance.spent())));
    }

    private Answer grantOther(Call call) throws IOException {
        UUID id = call.id("id", IdKind.WORKSPACE);
        if (Reads.found(workspaces.find(id), IdKind.WORKSPACE, id).closed()) {
            throw Refusal.of(ErrorCode.WORKSPACE_NOT_OPEN, "the workspace is closed");
        }
        return grant(call, id);
    }

    private Answer grant(Call call, UUID workspace) throws IOException {
        call.query().done();
        Fields fields = call.fields();
        BigDecimal amount = fields.requiredCredits("amount");
        String reason = fields.optionalText("reason", MAX_REASON);
        fields.done();
        return booked(money.ledger().grant(workspace, amount, reason, key(call), call.actor(),
                recorded(call, workspace, "credits_granted")));
    }

    private Answer adjust(Call call) throws IOException {
        call.query().done();
        Fields fields = call.fields();
        BigDecimal amount = fields.requiredCredits("amount");
        String from = fields.requiredWord("debit_account", CORRECTED);
        String to = fields.requiredWord("credit_account", CORRECTED);
        if (!from.isEmpty() && from.equals(to)) {
            fields.problem("INVALID_VALUE", "credit_account", "must be another account than debit_account");
        }
        String reason = fields.text("reason", MAX_REASON);
        fields.done();
        return booked(money.ledger().adjust(call.workspace(), Account.of(from), Account.of(to), amount, reason,
                key(call), call.actor(), recorded(call, call.workspace(), "ledger_corrected")));
    }

    /** In the audit log, with what was booked. */
    private static Ledger.Witness recorded(Call call, UUID workspace, String action) {
        return (c, entry) -> {
            ObjectNode detail = Json.object().put("amount", Json.plain(entry.amount()));
            if (entry.type().equals("adjustment")) {
                detail.put("from", entry.debit().wire()).put("to", entry.credit().wire());
            }
            if (entry.reason() != null) {
                detail.put("reason", entry.reason());
            }
            Audit.write(c, call.origin(), action, workspace, Long.toString(entry.id()), detail);
        };
    }

    /** The request's key is the entry's, which outlives the 24 hours for which requests are remembered. */
    private static String key(Call call) {
        Idempotency.Keyed keyed = call.keyed();
        return keyed == null ? UUID.randomUUID().toString() : keyed.use().id().key();
    }

    private static Answer booked(Booking booking) {
        return switch (booking) {
            case Booking.Done(var entry, boolean repeated) -> repeated
                    ? Answer.ok(LedgerDocuments.of(entry)).header(Idempotency.REPLAYED, "true")
                    : Answer.json(201, LedgerDocuments.of(entry));
            case Booking.KeyTaken(var entry) -> throw Refusal.of(ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                    "the key was used for another " + entry.type() + ", entry " + entry.id() + " of the ledger")
                    .with("entry_id", Long.toString(entry.id()));
            case Booking.Impossible(Account account, Balance balance) -> throw impossible(account, balance);
        };
    }

    private static Refusal impossible(Account account, Balance balance) {
        return account == Account.AVAILABLE
                ? Refusal
                        .of(ErrorCode.INSUFFICIENT_CREDITS,
                                "the workspace has no more than " + Amounts.credits(balance.available()))
                        .with("available", Json.plain(balance.available()).toPlainString())
                : Refusal.of(ErrorCode.BALANCE_OUT_OF_RANGE, "the account " + account.wire()
                        + " would be below 0, or above what an account holds").with("account", account.wire());
    }

    private Answer usage(Call call) {
        Query query = call.query();
        String by = Objects.requireNonNullElse(query.word("by", PARTS), PARTS.getFirst());
        Instant to = Objects.requireNonNullElseGet(query.time("to"), () -> money.usage().now());
        Instant from = Objects.requireNonNullElseGet(query.time("from"), () -> to.minus(USUAL_PERIOD));
        query.done();
        Instant now = money.usage().now();
        if (!from.isBefore(now)) {
            throw Query.invalid("from", "is yet to come: " + from + ", and now is " + now);
        }
        if (!from.isBefore(to) || Duration.between(from, to).compareTo(LONGEST_PERIOD) > 0) {
            throw Query.invalid("from", "must be before 'to' by at most " + LONGEST_PERIOD.toDays() + " days");
        }
        Usage.Report report = money.usage().report(call.workspace(), Usage.By.valueOf(by.toUpperCase(Locale.ROOT)),
                from, to);
        ObjectNode document = Json.object().put("by", by).put("from", Json.time(report.from()))
                .put("to", Json.time(report.to()));
        document.putArray("items").addAll(report.lines().stream().map(line -> used(Json.object().put(by, line.of()),
                line)).toList());
        document.set("total", used(Json.object(), report.total()));
        return Answer.ok(document.put("complete", report.complete()));
    }

    private static ObjectNode used(ObjectNode document, Usage.Line line) {
        return document.put("credits", Json.plain(line.credits())).put("tokens", line.tokens())
                .put("charges", line.charges())
                .put("runs", line.runs());
    }
}
