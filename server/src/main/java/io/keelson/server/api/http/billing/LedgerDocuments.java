package io.keelson.server.api.http.billing;

import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.money.Discrepancy;
import io.keelson.server.tenant.money.LedgerRow;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Rows of the ledger, and its discrepancies, as JSON. */
final class LedgerDocuments {

    private LedgerDocuments() {}

    static ObjectNode of(LedgerRow entry) {
        ObjectNode document = Json.object().put("id", entry.id()).put("transaction_type", entry.type())
                .put("amount", Json.plain(entry.amount()))
                .put("cost", entry.cost() == null ? null : Json.plain(entry.cost()))
                .put("debit_account", entry.debit().wire()).put("credit_account", entry.credit().wire())
                .put("run_id", text(entry.runId())).put("attempt_number", entry.attempt())
                .put("step_id", text(entry.stepId())).put("idempotency_key", entry.key()).put("tool", entry.tool())
                .put("model", entry.model()).put("agent", entry.agent()).put("tokens", entry.tokens());
        document.set("usage", entry.usage() == null ? null : Json.read(entry.usage()));
        return document.put("price_version", entry.priceVersion()).put("purpose", entry.purpose())
                .put("estimated", entry.estimated())
                .put("reason", entry.reason())
                .put("actor_type", entry.actorType()).put("actor_id", entry.actorId())
                .put("created_at", Json.time(entry.createdAt()));
    }

    static ObjectNode of(Discrepancy found) {
        return Json.object().put("kind", found.kind().wire()).put("workspace_id", found.workspaceId().toString())
                .put("run_id", text(found.runId())).put("attempt_number", found.attempt())
                .put("step_id", text(found.stepId())).put("figure", found.figure())
                .put("expected", Json.plain(found.expected()))
                .put("actual", found.actual() == null ? null : Json.plain(found.actual()))
                .put("message", found.message());
    }

    private static @Nullable String text(@Nullable UUID id) {
        return id == null ? null : id.toString();
    }
}
