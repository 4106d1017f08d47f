package io.keelson.api.work;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * An order at a provider.
 *
 * @param id id of the command that created it
 * @param symbol traded pair, such as {@code BTC-USD}
 * @param side direction
 * @param type kind of order
 * @param quantity quantity as a decimal
 * @param limitPrice price of a limit order as a decimal
 * @param status the provider's word for it
 * @param providerReference id at the provider; null before its response
 * @param adapter adapter that executed it, such as {@code simulated}
 * @param createdBy name of the principal that created it
 * @param runId run whose step placed it; null for a request
 * @param createdAt time of its creation
 * @param commandId the command that ended it, in the response to that command
 * @param provider its state at the provider
 */
public record Order(String id, String symbol, @OneOf({
        "buy", "sell"}) String side,
        @OneOf({"market", "limit"}) String type, String quantity,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String limitPrice, @Nullable String status,
        @Nullable String providerReference, String adapter, String createdBy, @Nullable String runId,
        Instant createdAt, @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String commandId,
        @Nullable ObjectNode provider) {

    /**
     * Places an order.
     *
     * @param symbol 1 to 50 letters, digits and any of . _ : / -
     * @param side direction
     * @param type kind of order
     * @param quantity quantity as a decimal
     * @param limitPrice price of a limit order as a decimal
     */
    @Request
    public record New(@Text(pattern = "^[A-Za-z0-9][A-Za-z0-9._:/-]{0,49}$") String symbol,
            @OneOf({"buy", "sell"}) String side, @OneOf({"market", "limit"}) String type,
            @Ref("PositiveDecimal") String quantity, @Nullable @Ref("PositiveDecimal") String limitPrice) {}
}
