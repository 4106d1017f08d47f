package io.keelson.api.work;

import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.money.TokenPrices;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A model that the server calls.
 *
 * @param name as plans, agents, prices and limits name it
 * @param allowed whether the workspace may use it
 * @param family related models have the same family
 * @param wire protocol of the provider
 * @param model as the provider names it
 * @param baseUrl address of the provider; null for keys without the scope {@code operator}
 * @param contextTokens tokens of input and output together
 * @param maxOutputTokens tokens of one answer, reasoning included
 * @param bytesPerToken the least bytes of text that a token has on average
 * @param usdPerMillionTokens by the price list; null if absent
 * @param fallback models to use instead, the first one first
 * @param fallbackAfterSeconds how long the model may be busy before a fallback is used
 */
public record ModelInfo(String name, boolean allowed, String family,
        @OneOf({
                "openai-responses", "openai-chat", "anthropic-messages"}) String wire,
        String model,
        @Nullable String baseUrl, @Range(min = 1) long contextTokens, @Range(min = 1) long maxOutputTokens,
        @Range(min = 1) BigDecimal bytesPerToken, @Nullable TokenPrices usdPerMillionTokens, List<String> fallback,
        @Range(min = 1) int fallbackAfterSeconds) {

    public ModelInfo {
        fallback = List.copyOf(fallback);
    }

    /**
     * The outcome of a request to a model.
     *
     * @param name name of the model
     * @param answers whether it gave a usable answer
     * @param detail the model that answered, or the problem; never a key
     * @param durationMs until the answer; 0 without one
     */
    public record Check(String name, boolean answers, String detail, long durationMs) {}
}
