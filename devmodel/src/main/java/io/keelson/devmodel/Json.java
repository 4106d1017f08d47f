package io.keelson.devmodel;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.TreeMap;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** JSON trees with exact numbers. */
final class Json {

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    private Json() {}

    /** @throws tools.jackson.core.JacksonException if the text is not JSON */
    static JsonNode read(String text) {
        return read(text.getBytes(StandardCharsets.UTF_8));
    }

    /** @throws tools.jackson.core.JacksonException if the bytes are not JSON */
    static JsonNode read(byte[] bytes) {
        try {
            return MAPPER.readTree(bytes);
        } catch (NumberFormatException e) {
            throw new StreamReadException(null, "a number has too large an exponent", e);
        }
    }

    static byte[] write(JsonNode json) {
        return MAPPER.writeValueAsBytes(json);
    }

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
    }

    static JsonNode string(String text) {
        return JsonNodeFactory.instance.stringNode(text);
    }

    /** RFC 3339 in UTC with milliseconds. */
    static String time(Instant time) {
        return TIME.format(time);
    }

    /** The value in one notation: members sorted by name, numbers without trailing zeros. */
    static JsonNode canonical(JsonNode node) {
        if (node.isObject()) {
            TreeMap<String, JsonNode> members = new TreeMap<>();
            node.properties().forEach(each -> members.put(each.getKey(), canonical(each.getValue())));
            ObjectNode sorted = object();
            members.forEach(sorted::set);
            return sorted;
        }
        if (node.isArray()) {
            ArrayNode items = array();
            node.values().forEach(each -> items.add(canonical(each)));
            return items;
        }
        return node.isNumber() ? DecimalNode.valueOf(node.decimalValue().stripTrailingZeros()) : node;
    }
}
