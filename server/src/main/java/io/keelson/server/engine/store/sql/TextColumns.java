package io.keelson.server.engine.store.sql;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.core.decide.Hold;
import io.keelson.core.decide.Metered;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.WorstCase;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.SafeText;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Converts texts to and from columns: replaces characters that PostgreSQL refuses, and truncates long texts. */
public final class TextColumns {
    private static final int MAX_CACHED_TEXTS = 200;
    private static final LoadingCache<RetryPolicy, String> RETRIES = cached(Json.MAPPER::writeValueAsString);

    private TextColumns() {}

    /** Caches the texts of recurring values. */
    public static <T> LoadingCache<T, String> cached(Function<T, String> writer) {
        return Caffeine.newBuilder().maximumSize(MAX_CACHED_TEXTS).build(writer::apply);
    }

    /** Text that a column accepts. */
    public static @Nullable String storable(@Nullable String text) {
        return text == null ? null : SafeText.clean(text);
    }

    /** JSON text that jsonb accepts: it refuses NUL and lone surrogates, escaped ones included. */
    public static @Nullable String storableJson(@Nullable String json) {
        if (json == null) {
            return null;
        }
        String raw = SafeText.clean(json);
        return raw.contains("\\u") ? SafeText.clean(Json.read(raw)).toString() : raw;
    }

    /** The first characters of a text, never half a surrogate pair. */
    public static @Nullable String clip(@Nullable String text, int most) {
        if (text == null || text.length() <= most) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
    }

    /** A short form of an output: a string as it is, anything else as JSON text. */
    public static @Nullable String summary(@Nullable String json) {
        if (json == null || !json.startsWith("\"")) {
            return json;
        }
        return Json.read(json).asString();
    }

    /** Tokens of a task or a run, limited to PRD-101's INTEGER. */
    public static int clamp(long tokens) {
        return (int) Math.min(tokens, Integer.MAX_VALUE);
    }

    public static String retry(RetryPolicy policy) {
        return RETRIES.get(policy);
    }

    public static RetryPolicy retry(String json) {
        return Json.MAPPER.readValue(json, RetryPolicy.class);
    }

    /** JSON text; null for null. */
    public static @Nullable String metered(@Nullable Metered used) {
        if (used == null) {
            return null;
        }
        ObjectNode json = Json.MAPPER.valueToTree(used);
        if (used.requests() == null) {
            json.remove("requests");
        }
        return json.toString();
    }

    /** @param json null if absent */
    public static @Nullable Metered metered(@Nullable String json) {
        return json == null ? null : Json.MAPPER.readValue(json, Metered.class);
    }

    /** JSON text; null for null. */
    public static @Nullable String worstCase(@Nullable WorstCase bound) {
        if (bound == null) {
            return null;
        }
        ObjectNode json = Json.object().put("model", bound.model()).put("max_input_tokens", bound.maxInput())
                .put("max_output_tokens", bound.maxOutput());
        return (bound.computed() ? json.put("computed", true) : json).toString();
    }

    /** JSON text of a hold whose request was sent; null for null. */
    public static @Nullable String hold(@Nullable Hold kept) {
        return kept == null ? null
                : Json.object().put("credits", kept.amount()).put("max_output_tokens", kept.maxOutput()).toString();
    }

    /** @param json null if absent */
    public static @Nullable Hold keptHold(@Nullable String json) {
        JsonNode kept = json == null ? null : Json.read(json);
        return kept == null ? null
                : new Hold(Amounts.exact(kept.get("credits").decimalValue()), kept.get("max_output_tokens").asLong(),
                        true);
    }

    /** @param json null if absent */
    public static @Nullable WorstCase worstCase(@Nullable String json) {
        if (json == null) {
            return null;
        }
        JsonNode bound = Json.read(json);
        return new WorstCase(bound.get("model").asString(), bound.get("max_input_tokens").asLong(),
                bound.get("max_output_tokens").asLong(), bound.has("computed"));
    }
}
