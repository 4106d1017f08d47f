package io.keelson.server.annex.model.wire;

import io.keelson.core.money.Tokens;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The kind of a request to a provider. */
public enum PassedKind {
    /** An answer of a model, at the path of its wire. */
    ANSWER,
    /** Vectors of texts, of OpenAI's API. */
    EMBEDDINGS,
    /** The tokens of a message, of Anthropic's API. */
    TOKEN_COUNT;

    String path(Wire wire) {
        return switch (this) {
            case ANSWER -> wire.path();
            case EMBEDDINGS -> "/embeddings";
            case TOKEN_COUNT -> wire.path() + "/count_tokens";
        };
    }

    /** Refuses a document of another kind. */
    void check(Wire wire, JsonNode document) throws UnreadableException, ProviderErrorException {
        boolean readable = switch (this) {
            case ANSWER -> {
                wire.read(document);
                yield true;
            }
            case EMBEDDINGS -> document.path("data").isArray();
            case TOKEN_COUNT -> document.path("input_tokens").isIntegralNumber();
        };
        if (!readable) {
            throw new UnreadableException("the answer has no " + (this == EMBEDDINGS ? "'data'" : "'input_tokens'"));
        }
    }

    /** The tokens that a document reports; null if it reports none, or if they are free. */
    @Nullable Tokens reported(Wire wire, JsonNode document) {
        JsonNode tokens = document.at("/usage/prompt_tokens");
        return switch (this) {
            case ANSWER -> wire.reported(document);
            case EMBEDDINGS -> tokens.isIntegralNumber() && tokens.longValue() > 0
                    ? new Tokens(tokens.longValue(), 0, 0, 0, 0)
                    : null;
            case TOKEN_COUNT -> null;
        };
    }
}
