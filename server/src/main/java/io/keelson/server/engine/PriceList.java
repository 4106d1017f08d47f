package io.keelson.server.engine;

import io.keelson.core.money.Prices;
import io.keelson.server.db.Database;
import io.keelson.server.run.RunStore;

/** The prices in force, as this node has read them last: a change elsewhere reaches it within seconds. */
final class PriceList {
    private final Database database;
    private final RunStore store;
    private volatile Prices prices;

    PriceList(Database database, RunStore store) {
        this.database = database;
        this.store = store;
        this.prices = database.withConnection(store::prices);
    }

    Prices inForce() {
        return prices;
    }

    void readAgain() {
        prices = database.withConnection(store::prices);
    }
}
