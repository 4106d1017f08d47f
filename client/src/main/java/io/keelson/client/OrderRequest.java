package io.keelson.client;

import java.math.BigDecimal;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * An order to place.
 *
 * @param quantity above 0
 * @param limitPrice of a limit order, above 0; null for a market order
 */
public record OrderRequest(String symbol, Side side, BigDecimal quantity, @Nullable BigDecimal limitPrice) {

    /** The direction of an order. */
    public enum Side {
        BUY, SELL
    }

    /** At the market's price. */
    public static OrderRequest market(String symbol, Side side, BigDecimal quantity) {
        return new OrderRequest(symbol, side, quantity, null);
    }

    /** At this price or a better one. */
    public static OrderRequest limit(String symbol, Side side, BigDecimal quantity, BigDecimal price) {
        return new OrderRequest(symbol, side, quantity, price);
    }

    ObjectNode body() {
        ObjectNode body = Json.object().put("symbol", symbol).put("side", side.name().toLowerCase(Locale.ROOT))
                .put("type", limitPrice == null ? "market" : "limit").put("quantity", quantity.toPlainString());
        return limitPrice == null ? body : body.put("limit_price", limitPrice.toPlainString());
    }
}
