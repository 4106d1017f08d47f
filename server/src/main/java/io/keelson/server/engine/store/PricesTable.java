package io.keelson.server.engine.store;

import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Prices.Price;
import io.keelson.core.money.TokenPrices;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** {@code prices} in force. */
final class PricesTable {
    /** A price of null was withdrawn. */
    private static final String IN_FORCE = """
            select * from (
                select distinct on (kind, name) * from prices order by kind, name, version desc) as newest
             where coalesce(usd_per_call, usd_per_million_input) is not null""";

    private PricesTable() {}

    static Prices read(Connection c) throws SQLException {
        Map<String, Price> tools = new HashMap<>();
        Map<String, ModelPrice> models = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(IN_FORCE); ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String name = row.getString("name");
                int version = row.getInt("version");
                BigDecimal call = row.getBigDecimal("usd_per_call");
                if (call != null) {
                    tools.put(name, new Price(call, version));
                } else {
                    models.put(name, new ModelPrice(new TokenPrices(row.getBigDecimal("usd_per_million_input"),
                            row.getBigDecimal("usd_per_million_cache_read"),
                            row.getBigDecimal("usd_per_million_cache_write"),
                            row.getBigDecimal("usd_per_million_output")), version));
                }
            }
        }
        return new Prices(tools, models);
    }
}
