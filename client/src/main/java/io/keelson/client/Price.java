package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A price on the list.
 *
 * @param kind {@code tool} or {@code model}
 * @param usdPerCall of a tool; null of a model
 * @param usdPerMillionTokens of a model; null of a tool
 * @param version of the list with which it began to hold
 * @param createdBy id of the API key that set it, or {@code models file} for the server's file of models
 */
public record Price(String kind, String name, @Nullable BigDecimal usdPerCall,
        @Nullable TokenPrices usdPerMillionTokens, int version, @Nullable Instant createdAt, String createdBy) {}
