package io.keelson.server.annex.model.wire;

import tools.jackson.databind.JsonNode;

/** A provider reports an error inside an answer that began well. */
final class ProviderErrorException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient JsonNode error;

    /** @param error with {@code message} and {@code type} or {@code code} */
    ProviderErrorException(JsonNode error) {
        super(error.path("message").asString(""));
        this.error = error;
    }

    JsonNode error() {
        return error;
    }
}
