package io.keelson.server.engine.store;

import io.keelson.core.money.Tokens;
import io.keelson.server.base.json.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The columns {@code usage}: tokens by their parts, as JSON. */
final class UsageText {
    private UsageText() {}

    /** Null for no tokens. */
    static @Nullable String of(Tokens tokens) {
        return tokens.none() ? null : Json.tree(tokens.members()).toString();
    }

    static Tokens read(@Nullable String usage) {
        if (usage == null) {
            return Tokens.NONE;
        }
        JsonNode part = Json.read(usage);
        return new Tokens(part.path("input").asLong(), part.path("cache_read").asLong(),
                part.path("cache_write").asLong(), part.path("output").asLong(), part.path("reasoning").asLong());
    }
}
