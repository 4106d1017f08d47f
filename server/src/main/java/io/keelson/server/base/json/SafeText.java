package io.keelson.server.base.json;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DecimalNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * Makes text storable: PostgreSQL's jsonb refuses NUL and lone surrogates, so each is replaced by U+FFFD. A number that it
 * has no room for becomes the text of that number.
 * Returns the same object for text without them.
 */
public final class SafeText {

    /** Maximum digits of a decimal that is written out, as PostgreSQL does; who reads it again takes 1,000 characters of a number. */
    private static final int MAX_DIGITS = 900;
    private static final int ZWNJ = 0x200C;
    private static final int ZWJ = 0x200D;
    private static final char REPLACEMENT = '\uFFFD';

    private SafeText() {}

    /**
     * The first character that a name must not have, as it hides or moves other text where it is shown: a control
     * character, a line separator or an invisible format character such as U+202E. The joiners U+200C and U+200D are
     * allowed, because words and emojis need them.
     *
     * @return the character as {@code U+202E}; null when there is none
     */
    public static @Nullable String hidden(String name) {
        return name.codePoints().filter(SafeText::hides).mapToObj("U+%04X"::formatted).findFirst().orElse(null);
    }

    /** Whether a name must not have the character. */
    public static boolean hides(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            case Character.FORMAT -> point != ZWNJ && point != ZWJ;
            default -> false;
        };
    }

    public static String clean(String text) {
        int at = firstBad(text, 0);
        if (at < 0) {
            return text;
        }
        char[] chars = text.toCharArray();
        while (at >= 0) {
            chars[at] = REPLACEMENT;
            at = firstBad(text, at + 1);
        }
        return new String(chars);
    }

    /** The tree with every string and field name cleaned; the same object for a tree that has nothing to clean. */
    public static JsonNode clean(JsonNode node) {
        return isClean(node) ? node : cleaned(node);
    }

    private static boolean isClean(JsonNode node) {
        return switch (node) {
            case StringNode text -> firstBad(text.stringValue(), 0) < 0;
            case DecimalNode number -> digits(number.decimalValue()) <= MAX_DIGITS;
            case ArrayNode array -> {
                for (JsonNode each : array) {
                    if (!isClean(each)) {
                        yield false;
                    }
                }
                yield true;
            }
            case ObjectNode object when !object.isEmpty() -> {
                for (var each : object.properties()) {
                    if (firstBad(each.getKey(), 0) >= 0 || !isClean(each.getValue())) {
                        yield false;
                    }
                }
                yield true;
            }
            default -> true;
        };
    }

    private static JsonNode cleaned(JsonNode node) {
        if (node.isString()) {
            String text = node.stringValue();
            String clean = clean(text);
            return clean == text ? node : JsonNodeFactory.instance.stringNode(clean);
        }
        if (node.isBigDecimal() && digits(node.decimalValue()) > MAX_DIGITS) {
            return JsonNodeFactory.instance.stringNode(node.decimalValue().toString());
        }
        if (node.isArray()) {
            ArrayNode array = JsonNodeFactory.instance.arrayNode(node.size());
            node.forEach(each -> array.add(cleaned(each)));
            return array;
        }
        if (node.isObject()) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            node.properties().forEach(each -> object.set(clean(each.getKey()), cleaned(each.getValue())));
            return object;
        }
        return node;
    }

    /** Without an exponent. */
    private static long digits(BigDecimal number) {
        long scale = number.scale();
        return scale <= 0 ? number.precision() - scale : Math.max(number.precision(), scale + 1);
    }

    private static int firstBad(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0) {
                return i;
            }
            if (Character.isSurrogate(c)) {
                if (Character.isLowSurrogate(c) || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return i;
                }
                i++;
            }
        }
        return -1;
    }
}
