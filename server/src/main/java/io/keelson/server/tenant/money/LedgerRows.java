package io.keelson.server.tenant.money;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.TokenUsage;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Rows of the ledger as they are read. */
final class LedgerRows {

    static final String COLUMNS =
            "id, transaction_type, amount, case transaction_type when 'charge' then coalesce(cost, amount) end as cost, debit_account, credit_account, run_id, attempt_number, "
                    + "step_id, idempotency_key, tool, model, agent, tokens, usage, price_version, "
                    + "case transaction_type when 'charge' then coalesce(purpose, 'work') end as purpose, estimated is true as estimated, detail ->> 'reason' as reason, "
                    + "actor_type, actor_id, created_at";

    private LedgerRows() {}

    static LedgerEntry entry(ResultSet row) throws SQLException {
        BigDecimal cost = row.getBigDecimal("cost");
        String usage = row.getString("usage");
        return new LedgerEntry(row.getLong("id"), row.getString("transaction_type"),
                Json.plain(row.getBigDecimal("amount")), cost == null ? null : Json.plain(cost),
                row.getString("debit_account"), row.getString("credit_account"),
                row.getString("run_id"), optional(row, "attempt_number", Integer.class),
                row.getString("step_id"), row.getString("idempotency_key"),
                optional(row, "tool", String.class), optional(row, "model", String.class),
                optional(row, "agent", String.class), optional(row, "tokens", Long.class),
                usage == null ? null : Json.MAPPER.readValue(usage, TokenUsage.class),
                optional(row, "price_version", Integer.class), optional(row, "purpose", String.class),
                row.getBoolean("estimated"), optional(row, "reason", String.class), row.getString("actor_type"),
                optional(row, "actor_id", String.class), Rows.time(row, "created_at"));
    }

    private static <T> @Nullable T optional(ResultSet row, String column, Class<T> type) throws SQLException {
        return row.getObject(column, type);
    }
}
