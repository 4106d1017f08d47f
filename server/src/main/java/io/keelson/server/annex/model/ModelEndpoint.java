package io.keelson.server.annex.model;

import java.net.URI;
import java.util.Map;

/**
 * The endpoint of a model. Its text form shows neither the key nor headers.
 *
 * @param name as plans and prices name the model
 * @param baseUrl of the provider, without a trailing slash
 * @param model as the provider names it
 * @param apiKey empty for a provider that needs none
 * @param headers sent with each request
 */
public record ModelEndpoint(String name, WireKind wire, URI baseUrl, String model, String apiKey,
        Map<String, String> headers) {

    public ModelEndpoint {
        headers = Map.copyOf(headers);
    }

    @Override
    public String toString() {
        return "ModelEndpoint[name=" + name + ", wire=" + wire.wire() + ", model=" + model + "]";
    }
}
