package io.keelson.server.engine;

import io.keelson.core.money.Prices;
import io.keelson.server.run.RunStore;
import java.sql.Connection;
import java.sql.SQLException;

/** The prices in force, as this node has read them last: a change elsewhere reaches it within seconds. */
final class PriceList {
    private final RunStore store;
    private volatile Prices prices = Prices.NONE;

    PriceList(RunStore store) {
        this.store = store;
    }

    Prices inForce() {
        return prices;
    }

    void refresh(Connection c) throws SQLException {
        prices = store.prices(c);
    }
}
