package io.keelson.server.tenant.money;

import io.keelson.api.money.LedgerEntry;
import io.keelson.core.money.LedgerAccount;
import io.keelson.core.run.Actor;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Sql;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Books grants and corrections. One transaction writes the ledger's row and the balance; it locks the
 * slots of the balance first, so that decisions use the current one.
 */
public final class LedgerBooking {

    private static final Sql BY_KEY = Sql.of("""
            select {columns} from billing_ledger
             where workspace_id = :workspace and idempotency_key = :key and transaction_type = :type"""
            .replace("{columns}", LedgerRows.COLUMNS));

    private static final Sql INSERT = Sql.of("""
            insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account,
                idempotency_key, actor_type, actor_id, detail, created_at)
            values (:workspace, :type, :amount, :debit, :credit, :key, :actor_type, :actor_id, :detail::jsonb, {now})
            returning {columns}"""
            .replace("{columns}", LedgerRows.COLUMNS));

    /** A witness that does nothing. */
    public static final Witness NONE = (c, entry) -> {
    };

    /** Receives a new entry in the transaction that books it. */
    public interface Witness {
        void booked(Connection c, LedgerEntry entry) throws SQLException;
    }

    private final Database database;
    private final DbClock clock;

    LedgerBooking(Database database, DbClock clock) {
        this.database = database;
        this.clock = clock;
    }

    /**
     * Gives the workspace credits.
     *
     * @param amount more than 0, {@linkplain CreditAmounts#possible possible}
     * @param key the same key and content again change nothing
     */
    public Booking grant(UUID workspace, BigDecimal amount, @Nullable String reason, String key, Actor actor) {
        return grant(workspace, amount, reason, key, actor, NONE);
    }

    /** Grants credits; a witness runs in the booking's transaction. */
    public Booking grant(UUID workspace, BigDecimal amount, @Nullable String reason, String key, Actor actor,
            Witness witness) {
        return book(workspace, "grant",
                new Move(LedgerAccount.FUNDING, LedgerAccount.AVAILABLE, CreditAmounts.normal(amount), reason),
                key, actor, witness);
    }

    /**
     * Grants a workspace's initial credits, once; later amounts are ignored.
     *
     * @param amount 0 for nothing
     */
    public void first(UUID workspace, BigDecimal amount) {
        if (amount.signum() > 0) {
            grant(workspace, amount, "first start", "first-start", Actor.SYSTEM);
        }
    }

    /**
     * Corrects an error by a transfer. Reserved credits belong to open attempts and cannot be corrected by hand.
     *
     * @param from another account than {@code to}; neither is {@link LedgerAccount#RESERVED}
     * @param amount more than 0, {@linkplain CreditAmounts#possible possible}
     * @param key the same key and content again change nothing
     */
    public Booking adjust(UUID workspace, LedgerAccount from, LedgerAccount to, BigDecimal amount, String reason,
            String key, Actor actor, Witness witness) {
        if (from == to || from == LedgerAccount.RESERVED || to == LedgerAccount.RESERVED) {
            throw new IllegalArgumentException("no correction goes from " + from + " to " + to);
        }
        return book(workspace, "adjustment", new Move(from, to, CreditAmounts.normal(amount), reason), key, actor,
                witness);
    }

    private record Move(LedgerAccount from, LedgerAccount to, BigDecimal amount, @Nullable String reason) {

        /** Whether the entry moved the amount between the accounts for the reason. */
        boolean isBookedBy(LedgerEntry entry) {
            return entry.debitAccount().equals(from.wire()) && entry.creditAccount().equals(to.wire())
                    && entry.amount().compareTo(amount) == 0 && Objects.equals(reason, entry.reason());
        }
    }

    private Booking book(UUID workspace, String type, Move move, String key, Actor actor, Witness witness) {
        return database.inTransaction(c -> {
            Balances.Locked locked = Balances.lock(c, workspace);
            WorkspaceBalance before = locked.balance();
            Optional<LedgerEntry> known = find(c, workspace, key, type);
            if (known.isPresent()) {
                LedgerEntry entry = known.get();
                return move.isBookedBy(entry) ? new Booking.Done(entry, true)
                        : new Booking.KeyTaken(entry);
            }
            WorkspaceBalance taken = before.plus(move.from, move.amount.negate());
            WorkspaceBalance after = taken.plus(move.to, move.amount);
            if (!after.possible()) {
                return new Booking.Impossible(taken.possible() ? move.to : move.from, before);
            }
            LedgerEntry entry = insert(c, workspace, type, move, key, actor);
            Balances.write(c, clock, workspace, locked.slots(), after);
            witness.booked(c, entry);
            return new Booking.Done(entry, false);
        });
    }

    private static Optional<LedgerEntry> find(Connection c, UUID workspace, String key, String type)
            throws SQLException {
        return BY_KEY.on(c).set("workspace", workspace).set("key", key).set("type", type).first(LedgerRows::entry);
    }

    private LedgerEntry insert(Connection c, UUID workspace, String type, Move move, String key, Actor actor)
            throws SQLException {
        return INSERT.on(c).set("workspace", workspace).set("type", type).set("amount", move.amount)
                .set("debit", move.from.wire()).set("credit", move.to.wire()).set("key", key)
                .set("actor_type", actor.type().wire()).set("actor_id", actor.id())
                .set("detail",
                        move.reason == null ? null : JsonNodeFactory.instance.objectNode().put("reason", move.reason))
                .at(clock).one(LedgerRows::entry);
    }
}
