package io.keelson.server.mission.plan;

import io.keelson.server.base.json.SafeText;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLParser;

/** Makes one tree of a parser's tokens and notes every place that a tree may not have. */
final class TreeBuilder {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final int MAX_KEY = 500;
    /** Decimal places that PostgreSQL stores. */
    private static final int MAX_PLACES = 16_383;

    /** The document goes deeper than {@link Documents#MAX_DEPTH}; thrown to stop reading it. */
    static final class TooDeep extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private final JsonParser parser;
    private final Problems problems = new Problems();

    TreeBuilder(JsonParser parser) {
        this.parser = parser;
    }

    Problems problems() {
        return problems;
    }

    /** The only document of the stream; an empty stream is refused. */
    JsonNode document() {
        JsonToken first = parser.nextToken();
        if (first == null) {
            throw new StreamReadException(parser, "there is nothing in it");
        }
        JsonNode tree = value(first, "", 0);
        if (parser.nextToken() != null) {
            throw new StreamReadException(parser, "there is more after its end: one document is read");
        }
        return tree;
    }

    /** Embedded objects come of tags only, which are noted as such. */
    private JsonNode value(JsonToken token, String at, int depth) {
        if (depth >= Documents.MAX_DEPTH && token.isStructStart()) {
            throw new TooDeep();
        }
        plainYaml(at);
        return switch (token) {
            case START_OBJECT -> object(at, depth);
            case START_ARRAY -> array(at, depth);
            case VALUE_STRING -> NODES.stringNode(text(parser.getString(), at));
            case VALUE_NUMBER_INT -> integer();
            case VALUE_NUMBER_FLOAT -> decimal(at);
            case VALUE_TRUE -> NODES.booleanNode(true);
            case VALUE_FALSE -> NODES.booleanNode(false);
            case VALUE_NULL, VALUE_EMBEDDED_OBJECT -> NODES.nullNode();
            case END_OBJECT, END_ARRAY, PROPERTY_NAME, NOT_AVAILABLE ->
                throw new StreamReadException(parser, "a value was expected");
        };
    }

    private ObjectNode object(String at, int depth) {
        ObjectNode object = NODES.objectNode();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String key = key(parser.currentName(), at);
            plainYaml(at);
            String here = Pointers.of(at, key);
            JsonNode value = value(next(), here, depth + 1);
            if (object.has(key)) {
                problems.add("DUPLICATE_KEY", here, "the key '" + Pointers.shown(key) + "' occurs twice");
            }
            object.set(key, value);
        }
        return object;
    }

    private ArrayNode array(String at, int depth) {
        ArrayNode array = NODES.arrayNode();
        for (JsonToken token = next(); token != JsonToken.END_ARRAY; token = next()) {
            array.add(value(token, Pointers.of(at, array.size()), depth + 1));
        }
        return array;
    }

    private JsonToken next() {
        JsonToken token = parser.nextToken();
        if (token == null) {
            throw new StreamReadException(parser, "it ends too early");
        }
        return token;
    }

    private JsonNode integer() {
        return switch (parser.getNumberType()) {
            case INT -> NODES.numberNode(parser.getIntValue());
            case LONG -> NODES.numberNode(parser.getLongValue());
            case BIG_INTEGER, FLOAT, DOUBLE, BIG_DECIMAL -> NODES.numberNode(parser.getBigIntegerValue());
        };
    }

    /** A double where that is exact, else a decimal; what no double can come near is refused. */
    private JsonNode decimal(String at) {
        double value = parser.getDoubleValue();
        if (!Double.isFinite(value)) {
            problems.add("NUMBER_OUT_OF_RANGE", at, "'" + Pointers.shown(parser.getString())
                    + "' is no number that can be stored");
            return NODES.nullNode();
        }
        BigDecimal exact = exact();
        if (exact == null || Math.abs((long) exact.scale()) > MAX_PLACES) {
            problems.add("NUMBER_OUT_OF_RANGE", at, "'" + Pointers.shown(parser.getString())
                    + "' is no number that can be stored");
            return NODES.nullNode();
        }
        return exact.compareTo(BigDecimal.valueOf(value)) == 0 ? NODES.numberNode(value) : NODES.numberNode(exact);
    }

    /** Null for an exponent that no decimal has. */
    private @Nullable BigDecimal exact() {
        try {
            return parser.getDecimalValue();
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private String key(@Nullable String name, String at) {
        String key = text(String.valueOf(name), at);
        if (key.length() > MAX_KEY) {
            problems.add("TOO_LONG", at, "a key has at most " + MAX_KEY + " characters, '" + Pointers.shown(key)
                    + "' has more");
            return key.substring(0, MAX_KEY);
        }
        return key;
    }

    private String text(String text, String at) {
        String clean = SafeText.clean(text);
        if (!clean.equals(text)) {
            problems.add("INVALID_TEXT", at, "text must not contain NUL or an unpaired surrogate");
        }
        return clean;
    }

    private void plainYaml(String at) {
        if (!(parser instanceof YAMLParser yaml)) {
            return;
        }
        if (yaml.isCurrentAlias() || yaml.getObjectId() != null) {
            problems.add("YAML_FEATURE", at, "anchors and aliases are not read: write the value where it is used");
        } else if (yaml.getRawTag() != null) {
            problems.add("YAML_FEATURE", at, "tags such as " + Pointers.shown(yaml.getRawTag())
                    + " are not read: quote a value that is to be text");
        }
    }
}
