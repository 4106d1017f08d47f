package io.keelson.server.base.json;

import java.math.BigDecimal;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.ser.std.ToStringSerializerBase;

/** JSON texts and trees. Numbers keep every digit: as doubles, 0.1000000000000000055 were 0.1. */
public final class Json {

    /** Exact numbers; a record's components are members in snake case. */
    public static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

    /** Members in the order of a record's components; times with milliseconds. */
    private static final JsonMapper DOCUMENTS = MAPPER.rebuild().disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .addModule(new SimpleModule().addSerializer(Instant.class, new ToStringSerializerBase(Instant.class) {
                @Override
                public String valueToString(Object time) {
                    return TIME.format((Instant) time);
                }
            })).build();

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'")
            .withZone(ZoneOffset.UTC);

    /** A number of the document has an exponent that no decimal has. */
    public static final class NumberException extends StreamReadException {
        private static final long serialVersionUID = 1L;

        private final String pointer;

        NumberException(JsonParser parser) {
            super(parser, "a number has too large an exponent");
            this.pointer = parser.streamReadContext().pathAsPointer().toString();
        }

        /** JSON pointer to the number. */
        public String pointer() {
            return pointer;
        }
    }

    private Json() {}

    /**
     * Reads a document of our own, or a document that was checked when it was stored. {@link OutsideJson} reads all
     * others.
     *
     * @throws tools.jackson.core.JacksonException if the text is not JSON
     */
    public static JsonNode read(String text) {
        try (JsonParser parser = MAPPER.createParser(text)) {
            return read(MAPPER, parser);
        }
    }

    /** Reads a document as {@link #read(String)}, from UTF-8. */
    public static JsonNode read(byte[] bytes) {
        try (JsonParser parser = MAPPER.createParser(bytes)) {
            return read(MAPPER, parser);
        }
    }

    /**
     * A document by another mapper, a missing node when the source has none: Jackson returns null for that when it reads from
     * a parser. It reports an exponent that no decimal has as a NumberFormatException.
     *
     * @throws NumberException for such a number
     */
    public static JsonNode read(ObjectMapper mapper, JsonParser parser) {
        try {
            JsonNode document = mapper.readTree(parser);
            return document == null ? MissingNode.getInstance() : document;
        } catch (NumberFormatException e) {
            throw new NumberException(parser);
        }
    }

    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    public static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
    }

    public static JsonNode string(String text) {
        return JsonNodeFactory.instance.stringNode(text);
    }

    /** Maps, lists and scalars as a tree. */
    public static ObjectNode tree(Map<String, Object> value) {
        return MAPPER.valueToTree(value);
    }

    /** An answer of the API as a tree. */
    public static ObjectNode document(Record answer) {
        return DOCUMENTS.valueToTree(answer);
    }

    public static ArrayNode strings(Collection<String> texts) {
        ArrayNode array = array();
        texts.forEach(array::add);
        return array;
    }

    public static byte[] write(JsonNode json) {
        return MAPPER.writeValueAsBytes(json);
    }

    /** The value in canonical notation: members sorted by name, numbers without trailing zeros. */
    public static JsonNode canonical(JsonNode node) {
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

    /** SHA-256 of the {@link #canonical} notation, hexadecimal. */
    public static String digest(JsonNode node) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(write(canonical(node))));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** The number without trailing zeros and without an exponent. */
    public static BigDecimal plain(BigDecimal number) {
        BigDecimal stripped = number.stripTrailingZeros();
        return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
    }

    /** RFC 3339 in UTC with milliseconds; null stays null. */
    public static @Nullable String time(@Nullable Instant time) {
        return time == null ? null : TIME.format(time);
    }
}
