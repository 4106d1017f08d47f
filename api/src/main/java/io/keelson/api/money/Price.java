package io.keelson.api.money;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.OneOf;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A price on the list.
 *
 * @param kind kind of the price
 * @param name name of the tool or model
 * @param usdPerCall of a tool
 * @param usdPerMillionTokens of a model
 * @param version of the list with which it began to hold
 * @param createdAt time from which it holds
 * @param createdBy id of the API key that set it, or {@code models file} for the file of {@code KEELSON_MODELS}
 */
public record Price(@OneOf({"tool", "model"}) String kind, String name,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable BigDecimal usdPerCall,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable TokenPrices usdPerMillionTokens, int version,
        Instant createdAt, String createdBy) {}
