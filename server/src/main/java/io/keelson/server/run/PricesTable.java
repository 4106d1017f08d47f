package io.keelson.server.run;

import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.Price;
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
            select kind, name, version, usd from (
                select distinct on (kind, name) kind, name, version,
                    coalesce(usd_per_call, usd_per_million_tokens) as usd
                  from prices order by kind, name, version desc) as newest
             where usd is not null""";

    private PricesTable() {}

    static Prices read(Connection c) throws SQLException {
        Map<String, Price> tools = new HashMap<>();
        Map<String, Price> models = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(IN_FORCE); ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                BigDecimal usd = row.getBigDecimal("usd");
                (row.getString("kind").equals("tool") ? tools : models).put(row.getString("name"),
                        new Price(usd, row.getInt("version")));
            }
        }
        return new Prices(tools, models);
    }
}
