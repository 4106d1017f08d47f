package io.keelson.server.api.http.billing;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.TokenUsage;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.money.LedgerRow;
import java.math.BigDecimal;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Entries of the ledger as the API answers them. */
final class LedgerDocuments {

    private LedgerDocuments() {}

    static ObjectNode of(LedgerRow entry) {
        BigDecimal cost = entry.cost();
        return Json.document(new LedgerEntry(entry.id(), entry.type(), Json.plain(entry.amount()),
                cost == null ? null : Json.plain(cost), entry.debit().wire(), entry.credit().wire(),
                Objects.toString(entry.runId(), null), entry.attempt(), Objects.toString(entry.stepId(), null),
                entry.key(), entry.tool(), entry.model(), entry.agent(), entry.tokens(), usage(entry.usage()),
                entry.priceVersion(), entry.purpose(), entry.estimated(), entry.reason(), entry.actorType(),
                entry.actorId(), entry.createdAt()));
    }

    private static @Nullable TokenUsage usage(@Nullable String stored) {
        return stored == null ? null : Json.MAPPER.readValue(stored, TokenUsage.class);
    }
}
