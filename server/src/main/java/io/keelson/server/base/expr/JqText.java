package io.keelson.server.base.expr;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Texts of values, and texts by code points. */
final class JqText {

    /** UTF-8 bytes of a value in a message. */
    private static final int MAX_SHOWN = 29;

    private JqText() {}

    /** {@code tostring}: a text as it is, another value as JSON. */
    static String of(JsonNode value, EvaluationBudget budget) {
        return value.isString() ? value.stringValue() : json(value, budget);
    }

    /** {@code tojson}. */
    static String json(JsonNode value, EvaluationBudget budget) {
        StringBuilder text = new StringBuilder();
        json(value, text, budget);
        return text.toString();
    }

    private static void json(JsonNode value, StringBuilder text, EvaluationBudget budget) {
        budget.step();
        budget.checkValue(text.length());
        switch (value.getNodeType()) {
            case NULL, MISSING -> text.append("null");
            case BOOLEAN -> text.append(value.booleanValue());
            case NUMBER -> text.append(JqNumber.text(value));
            case STRING, BINARY, POJO -> quote(value.asString(), text);
            case ARRAY -> {
                char before = '[';
                for (JsonNode each : value) {
                    text.append(before);
                    before = ',';
                    json(each, text, budget);
                }
                text.append(value.isEmpty() ? "[]" : "]");
            }
            case OBJECT -> {
                char before = '{';
                for (var each : value.properties()) {
                    quote(each.getKey(), text.append(before));
                    before = ',';
                    json(each.getValue(), text.append(':'), budget);
                }
                text.append(value.isEmpty() ? "{}" : "}");
            }
        }
    }

    private static void quote(String value, StringBuilder text) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                case '\b' -> text.append("\\b");
                case '\f' -> text.append("\\f");
                default -> {
                    if (c < ' ' || c == 0x7F) {
                        text.append("\\u00").append(Character.forDigit(c >> 4, 16))
                                .append(Character.forDigit(c & 15, 16));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }

    /** A value in a message, shortened. */
    static String shown(JsonNode value) {
        String json = json(value, EvaluationBudget.CURRENT.get());
        if (json.getBytes(StandardCharsets.UTF_8).length <= MAX_SHOWN) {
            return json;
        }
        String end = value.isContainer() || value.isString() ? json.substring(json.length() - 1) : "";
        int room = MAX_SHOWN - "...".length() - end.length();
        int chars = 0;
        for (int point : json.codePoints().limit(MAX_SHOWN).toArray()) {
            room -= Character.toString(point).getBytes(StandardCharsets.UTF_8).length;
            if (room < 0) {
                break;
            }
            chars += Character.charCount(point);
        }
        return json.substring(0, chars) + "..." + end;
    }

    static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    /** The characters from one position to another, counted in code points. */
    static String slice(String text, int from, int to) {
        int start = text.offsetByCodePoints(0, from);
        return text.substring(start, text.offsetByCodePoints(start, to - from));
    }

    /** The positions of a text in another, overlaps included, counted in code points. */
    static List<JsonNode> positions(String text, String wanted) {
        List<JsonNode> positions = new ArrayList<>();
        int chars = 0;
        int points = 0;
        for (int at = wanted.isEmpty() ? -1 : text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
            points += text.codePointCount(chars, at);
            chars = at;
            positions.add(JqNumber.of(points));
        }
        return positions;
    }

    static List<JsonNode> split(String text, String separator) {
        List<JsonNode> parts = new ArrayList<>();
        if (separator.isEmpty()) {
            text.codePoints().forEach(point -> parts.add(JqValue.text(Character.toString(point))));
        } else if (!text.isEmpty()) {
            int from = 0;
            for (int at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, from)) {
                parts.add(JqValue.text(text.substring(from, at)));
                from = at + separator.length();
            }
            parts.add(JqValue.text(text.substring(from)));
        }
        return parts;
    }

    /** Without white space at its start, its end, or both. */
    static String trim(String text, boolean start, boolean end) {
        int from = 0;
        int to = text.length();
        while (start && from < to && isSpace(text.charAt(from))) {
            from++;
        }
        while (end && from < to && isSpace(text.charAt(to - 1))) {
            to--;
        }
        return text.substring(from, to);
    }

    /** Whether Unicode classes the character as white space. All such characters fit one char. */
    private static boolean isSpace(char c) {
        return c >= 0x09 && c <= 0x0D || c == 0x85 || Character.isSpaceChar(c);
    }

    static String implode(JsonNode array) {
        StringBuilder text = new StringBuilder();
        if (!array.isArray()) {
            throw JqError.of("implode input must be an array");
        }
        for (JsonNode each : array) {
            if (!each.isNumber() || JqNumber.isNan(each)) {
                throw JqError.of(JqValue.shown(each)
                        + " can't be imploded, unicode codepoint needs to be numeric");
            }
            long point = JqNumber.whole(each);
            boolean known = point >= 0 && point <= Character.MAX_CODE_POINT
                    && (point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE);
            text.appendCodePoint(known ? (int) point : 0xFFFD);
        }
        return text.toString();
    }
}
