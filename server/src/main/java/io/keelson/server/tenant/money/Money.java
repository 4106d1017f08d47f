package io.keelson.server.tenant.money;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import java.util.UUID;

/** The public API of this package. */
public final class Money {

    private final Database database;
    private final LedgerBooking ledger;
    private final LedgerReader entries;
    private final PriceTable prices;
    private final UsageReader usage;
    private final LedgerVerification ledgerVerification;

    public Money(Database database, DbClock clock) {
        this.database = database;
        this.ledger = new LedgerBooking(database, clock);
        this.entries = new LedgerReader(database);
        this.prices = new PriceTable(database, clock);
        this.usage = new UsageReader(database, clock);
        this.ledgerVerification = new LedgerVerification(database);
    }

    /** The workspace's balance. */
    public WorkspaceBalance balance(UUID workspace) {
        return database.withConnection(c -> Balances.read(c, workspace));
    }

    /** Grants and corrections. */
    public LedgerBooking ledger() {
        return ledger;
    }

    /** Reads the ledger. */
    public LedgerReader entries() {
        return entries;
    }

    public PriceTable prices() {
        return prices;
    }

    /** Sums up charges. */
    public UsageReader usage() {
        return usage;
    }

    /** Whether the books are right. */
    public LedgerVerification audit() {
        return ledgerVerification;
    }
}
