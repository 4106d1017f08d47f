package io.keelson.server.annex.model.registry;

import io.keelson.core.money.TokenPrices;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.WireKind;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A model that this server calls. Its text form shows neither the key nor headers.
 *
 * @param name as plans, agents and prices name it
 * @param baseUrl of the provider, without a trailing slash
 * @param model as the provider names it
 * @param family whose models are related to it; a judge of another family is independent
 * @param apiKey the key at this time; empty for a provider that needs none
 * @param headers sent with each request
 * @param contextTokens of input and output together
 * @param maxOutputTokens of one answer, reasoning included
 * @param bytesPerToken of text, from 1; a bound of input tokens is computed with it
 * @param prices null where the file names none: the price list decides
 * @param fallback names of models to use instead, the first one first
 * @param fallbackAfter how long the model may be busy before a fallback is used
 * @param recorded which requests are kept
 * @param background whether the provider makes answers in the background, to be fetched by their ids
 */
public record ConfiguredModel(String name, WireKind wire, URI baseUrl, String model, String family,
        Supplier<String> apiKey,
        Map<String, String> headers, int contextTokens, int maxOutputTokens, BigDecimal bytesPerToken,
        @Nullable TokenPrices prices, List<String> fallback, Duration fallbackAfter, RecordRequests recorded,
        boolean background) {

    public ConfiguredModel {
        headers = Map.copyOf(headers);
        fallback = List.copyOf(fallback);
    }

    /** The endpoint for requests to the model. */
    public ModelEndpoint endpoint() {
        return new ModelEndpoint(name, wire, baseUrl, model, apiKey.get(), headers);
    }

    @Override
    public String toString() {
        return "ConfiguredModel[name=" + name + ", wire=" + wire.wire() + ", model=" + model + "]";
    }
}
