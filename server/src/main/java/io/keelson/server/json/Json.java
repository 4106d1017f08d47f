package io.keelson.server.json;

import tools.jackson.core.JsonParser;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** JSON texts and trees. Numbers keep every digit: as doubles, 0.1000000000000000055 were 0.1. */
public final class Json {

    /** Exact numbers; a record's components are members in snake case. */
    public static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

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

    /** @throws tools.jackson.core.JacksonException when it is no JSON */
    public static JsonNode read(String text) {
        try (JsonParser parser = MAPPER.createParser(text)) {
            return read(MAPPER, parser);
        }
    }

    /** @throws tools.jackson.core.JacksonException when it is no JSON */
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
}
