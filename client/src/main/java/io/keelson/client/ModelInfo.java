package io.keelson.client;

import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A model that the server calls.
 *
 * @param name as plans, agents, prices and limits have it
 * @param allowed whether the workspace may use it
 * @param wire {@code openai-responses}, {@code openai-chat} or {@code anthropic-messages}
 * @param model as the provider names it
 * @param baseUrl of the provider; null for keys without the scope {@code operator}
 * @param contextTokens of input and output together
 * @param maxOutputTokens of one answer, reasoning included
 * @param bytesPerToken the least bytes of text that a token has on average
 * @param usdPerMillionTokens null for a model without a price
 * @param fallback models to use instead, the first one first
 * @param fallbackAfterSeconds how long the model may be busy before a fallback is used
 */
public record ModelInfo(String name, boolean allowed, String family, String wire, String model,
        @Nullable String baseUrl, long contextTokens, long maxOutputTokens, BigDecimal bytesPerToken,
        @Nullable TokenPrices usdPerMillionTokens, List<String> fallback, int fallbackAfterSeconds) {

    public ModelInfo {
        fallback = List.copyOf(fallback);
    }
}
