package io.keelson.server.money;

import io.keelson.server.db.Database;
import io.keelson.server.db.DbClock;
import java.util.UUID;

/** The door of this room. */
public final class Money {

    private final Database database;
    private final Ledger ledger;
    private final LedgerReader entries;
    private final PriceTable prices;
    private final Usage usage;
    private final LedgerVerification ledgerVerification;

    public Money(Database database, DbClock clock) {
        this.database = database;
        this.ledger = new Ledger(database, clock);
        this.entries = new LedgerReader(database);
        this.prices = new PriceTable(database, clock);
        this.usage = new Usage(database, clock);
        this.ledgerVerification = new LedgerVerification(database);
    }

    /** What the workspace has. */
    public Balance balance(UUID workspace) {
        return database.withConnection(c -> Balances.read(c, workspace));
    }

    /** Grants and corrections. */
    public Ledger ledger() {
        return ledger;
    }

    /** What is in the ledger. */
    public LedgerReader entries() {
        return entries;
    }

    public PriceTable prices() {
        return prices;
    }

    /** What was paid for. */
    public Usage usage() {
        return usage;
    }

    /** Whether the books are right. */
    public LedgerVerification audit() {
        return ledgerVerification;
    }
}
