package io.keelson.server.engine.store;

import io.keelson.core.money.Tokens;
import io.keelson.server.engine.store.sql.TextColumns;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** JSON texts of several rows, each text once, because the database parses each. Rows name them by their places, from 1. */
final class SharedJson {
    private final Map<Object, Integer> places = new HashMap<>();
    private final List<String> texts = new ArrayList<>();

    /** The place of a text; null if the text is absent. */
    @Nullable Integer place(@Nullable String json) {
        return json == null ? null : place(json, () -> Objects.requireNonNull(TextColumns.storableJson(json)));
    }

    /** The place of the parts of tokens; null for no tokens. */
    @Nullable Integer place(Tokens tokens) {
        return tokens.none() ? null : place(tokens, () -> Objects.requireNonNull(UsageText.of(tokens)));
    }

    private Integer place(Object key, Supplier<String> text) {
        Integer place = places.get(key);
        if (place == null) {
            texts.add(text.get());
            place = texts.size();
            places.put(key, place);
        }
        return place;
    }

    List<String> texts() {
        return texts;
    }
}
