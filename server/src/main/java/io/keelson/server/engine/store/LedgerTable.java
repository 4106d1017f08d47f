package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.money.Purpose;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Use;
import io.keelson.server.engine.store.sql.RowSetStatement;
import java.math.BigDecimal;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** {@code billing_ledger}, as far as runs write it. */
final class LedgerTable {
    static final RowSetStatement<Transfer> INSERT = new RowSetStatement<>("keelson_transfer", """
            insert into billing_ledger (workspace_id, transaction_type, amount, cost, debit_account, credit_account, run_id,
                attempt_number, step_id, idempotency_key, tool, model, agent, tokens, usage, price_version,
                purpose, estimated, actor_type, actor_id, created_at)
            select workspace_id, transaction_type, amount, cost, debit_account, credit_account, run_id, attempt_number,
                step_id, idempotency_key, tool, model, agent, tokens, usage, price_version, purpose, estimated,
                actor_type, actor_id, {now}
              from {rows}""",
            uuid("workspace_id", Transfer::workspaceId), word("transaction_type", t -> t.kind().wire()),
            money("amount", Transfer::amount), money("cost", LedgerTable::cost),
            word("debit_account", t -> t.kind().from().wire()),
            word("credit_account", t -> t.kind().to().wire()), uuid("run_id", Transfer::runId),
            integer("attempt_number", Transfer::attempt), uuid("step_id", Transfer::stepId),
            word("idempotency_key", Transfer::key), text("tool", t -> of(t, Use::tool)),
            text("model", t -> of(t, Use::model)), text("agent", t -> of(t, Use::agent)),
            bigint("tokens", t -> of(t, use -> use.tokens().total())),
            json("usage", t -> of(t, use -> UsageText.of(use.tokens()))),
            integer("price_version", t -> of(t, Use::priceVersion)), word("purpose", t -> of(t, LedgerTable::purpose)),
            flag("estimated", t -> of(t, use -> use.estimated() ? true : null)),
            word("actor_type", Transfer::actorType), text("actor_id", 255, Transfer::actorId));

    private LedgerTable() {}

    /** Null where the cost is the amount, as most are. */
    private static @Nullable BigDecimal cost(Transfer transfer) {
        BigDecimal cost = of(transfer, Use::cost);
        return cost == null || cost.compareTo(transfer.amount()) == 0 ? null : cost;
    }

    /** Null for work, the most frequent purpose. */
    private static @Nullable String purpose(Use use) {
        return use.purpose() == Purpose.WORK ? null : use.purpose().wire();
    }

    private static <T> @Nullable T of(Transfer transfer, Function<Use, @Nullable T> part) {
        Use use = transfer.use();
        return use == null ? null : part.apply(use);
    }
}
