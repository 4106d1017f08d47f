package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.money.Purpose;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Use;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** {@code billing_ledger}, as far as runs write it. */
final class LedgerTable {
    /** @param usage the place of the tokens' parts in {@code {shared}}; null without tokens */
    record Entry(Transfer transfer, @Nullable Integer usage) {}

    static final RowSetStatement<Entry> INSERT = new RowSetStatement<>("keelson_transfer_2", """
            insert into billing_ledger (workspace_id, transaction_type, amount, cost, debit_account, credit_account, run_id,
                attempt_number, step_id, idempotency_key, tool, model, agent, tokens, usage, price_version,
                purpose, estimated, actor_type, actor_id, created_at)
            select workspace_id, transaction_type, amount, cost, debit_account, credit_account, run_id, attempt_number,
                step_id, idempotency_key, tool, model, agent, tokens, ({shared})[usage], price_version, purpose, estimated,
                actor_type, actor_id, {now}
              from {rows}""",
            uuid("workspace_id", e -> e.transfer.workspaceId()),
            word("transaction_type", e -> e.transfer.kind().wire()),
            money("amount", e -> e.transfer.amount()), money("cost", e -> cost(e.transfer)),
            word("debit_account", e -> e.transfer.kind().from().wire()),
            word("credit_account", e -> e.transfer.kind().to().wire()), uuid("run_id", e -> e.transfer.runId()),
            integer("attempt_number", e -> e.transfer.attempt()), uuid("step_id", e -> e.transfer.stepId()),
            word("idempotency_key", e -> e.transfer.key()), text("tool", e -> of(e.transfer, Use::tool)),
            text("model", e -> of(e.transfer, Use::model)), text("agent", e -> of(e.transfer, Use::agent)),
            bigint("tokens", e -> of(e.transfer, use -> use.tokens().total())), integer("usage", Entry::usage),
            integer("price_version", e -> of(e.transfer, Use::priceVersion)),
            word("purpose", e -> of(e.transfer, LedgerTable::purpose)),
            flag("estimated", e -> of(e.transfer, use -> use.estimated() ? true : null)),
            word("actor_type", e -> e.transfer.actorType()), text("actor_id", 255, e -> e.transfer.actorId()));

    private LedgerTable() {}

    /** One statement for all transfers. Equal parts of tokens, as steps that report equal charges have, are sent once. */
    static Part<Entry> insert(Collection<Transfer> transfers) {
        SharedJson json = new SharedJson();
        List<Entry> entries = new ArrayList<>(transfers.size());
        for (Transfer transfer : transfers) {
            Tokens tokens = of(transfer, Use::tokens);
            entries.add(new Entry(transfer, tokens == null ? null : json.place(tokens)));
        }
        return INSERT.of(entries, json.texts());
    }

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
