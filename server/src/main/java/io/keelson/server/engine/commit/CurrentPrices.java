package io.keelson.server.engine.commit;

import io.keelson.core.money.Prices;
import io.keelson.server.engine.store.RunStore;
import java.sql.Connection;
import java.sql.SQLException;

/** The prices in force, as last read by this node; a change elsewhere arrives within seconds. */
public final class CurrentPrices {
    private final RunStore store;
    private volatile Prices prices = Prices.NONE;

    public CurrentPrices(RunStore store) {
        this.store = store;
    }

    public Prices inForce() {
        return prices;
    }

    public void refresh(Connection c) throws SQLException {
        prices = store.prices(c);
    }
}
