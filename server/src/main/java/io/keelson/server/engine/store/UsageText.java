package io.keelson.server.engine.store;

import io.keelson.core.money.Tokens;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.FlatJson;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The columns {@code usage}: tokens by their parts, as JSON. */
final class UsageText {
    private UsageText() {}

    /** Null for no tokens. */
    static @Nullable String of(Tokens tokens) {
        if (tokens.none()) {
            return null;
        }
        FlatJson json = new FlatJson();
        tokens.members().forEach(json::put);
        return json.toString();
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
