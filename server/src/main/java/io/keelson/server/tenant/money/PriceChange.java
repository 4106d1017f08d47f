package io.keelson.server.tenant.money;

import io.keelson.core.money.TokenPrices;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * A price to set, or to withdraw where both prices are null.
 *
 * @param usdPerCall of a tool
 * @param usdPerMillion of a model's tokens
 */
public record PriceChange(PriceKind kind, String name, @Nullable BigDecimal usdPerCall,
        @Nullable TokenPrices usdPerMillion) {

    /** @param usd null withdraws the price */
    public static PriceChange tool(String name, @Nullable BigDecimal usd) {
        return new PriceChange(PriceKind.TOOL, name, usd, null);
    }

    /** @param usd null withdraws the price */
    public static PriceChange model(String name, @Nullable TokenPrices usd) {
        return new PriceChange(PriceKind.MODEL, name, null, usd);
    }
}
