package io.keelson.server.http.support;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The API's JSON: strict in what it reads (one document, no duplicate keys, bounded depth and size). */
public final class Json {

    /** Deeper documents are rejected, because all readers of the tree are recursive. */
    static final int MAX_DEPTH = 200;

    /** Values, keys and brackets of one document; bounds the memory that a tree of many tiny values takes. */
    private static final long MAX_TOKENS = 2_000_000;

    private static final int MAX_NUMBER_LENGTH = 100;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'")
            .withZone(ZoneOffset.UTC);

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).maxTokenCount(MAX_TOKENS)
                    .maxNumberLength(MAX_NUMBER_LENGTH).build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    private Json() {}

    /** @throws tools.jackson.core.JacksonException when it is no JSON document */
    public static JsonNode read(byte[] bytes) {
        try (JsonParser parser = MAPPER.createParser(bytes)) {
            return io.keelson.server.json.Json.read(MAPPER, parser);
        }
    }

    public static byte[] write(JsonNode json) {
        return MAPPER.writeValueAsBytes(json);
    }

    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** Maps, lists and scalars as a tree. */
    public static ObjectNode tree(Map<String, Object> value) {
        return MAPPER.valueToTree(value);
    }

    public static ArrayNode strings(Collection<String> texts) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        texts.forEach(array::add);
        return array;
    }

    /** The same value without trailing zeros and without an exponent. */
    public static BigDecimal plain(BigDecimal number) {
        BigDecimal stripped = number.stripTrailingZeros();
        return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
    }

    /** RFC 3339 in UTC with milliseconds; null stays null. */
    public static @Nullable String time(@Nullable Instant time) {
        return time == null ? null : TIME.format(time);
    }
}
