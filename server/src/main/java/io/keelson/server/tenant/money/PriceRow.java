package io.keelson.server.tenant.money;

import io.keelson.core.money.TokenPrices;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A price on the list.
 *
 * @param usdPerCall of a tool; null for a model
 * @param usdPerMillion of a model's tokens; null for a tool
 * @param version of the list with which it began to hold
 * @param createdBy who set it
 */
public record PriceRow(PriceKind kind, String name, @Nullable BigDecimal usdPerCall,
        @Nullable TokenPrices usdPerMillion, int version, Instant createdAt, String createdBy) {

    boolean says(PriceChange change) {
        if (usdPerMillion != null) {
            return change.usdPerMillion() != null && usdPerMillion.same(change.usdPerMillion());
        }
        return usdPerCall != null && change.usdPerCall() != null && usdPerCall.compareTo(change.usdPerCall()) == 0;
    }
}
