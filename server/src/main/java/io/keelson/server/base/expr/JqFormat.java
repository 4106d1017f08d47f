package io.keelson.server.base.expr;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The formats {@code @text}, {@code @csv} and so on. */
enum JqFormat {
    TEXT, JSON, CSV, TSV, HTML, URI, URID, SH, BASE64, BASE64D, BASE32, BASE32D;

    private static final String BASE32_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    private static final int BASE32_GROUP = 8;

    /** @return null when there is no such format */
    static @Nullable JqFormat named(String name) {
        for (JqFormat each : values()) {
            if (name.equals(each.name().toLowerCase(Locale.ROOT))) {
                return each;
            }
        }
        return null;
    }

    String of(JsonNode value, EvaluationBudget budget) {
        String text = switch (this) {
            case TEXT -> JqText.of(value, budget);
            case JSON -> JqText.json(value, budget);
            case CSV -> row(value, "csv", ",", each -> each.isString()
                    ? '"' + each.stringValue().replace("\"", "\"\"") + '"'
                    : JqText.json(each, budget));
            case TSV -> row(value, "tsv", "\t", each -> each.isString()
                    ? each.stringValue().replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
                            .replace("\r", "\\r")
                    : JqText.json(each, budget));
            case HTML -> JqText.of(value, budget).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
                    .replace("'", "&apos;").replace("\"", "&quot;");
            case URI -> uri(JqText.of(value, budget));
            case URID -> unescaped(value, JqText.of(value, budget));
            case SH -> value.isArray()
                    ? value.valueStream().map(each -> quoted(each, budget)).collect(Collectors.joining(" "))
                    : quoted(value, budget);
            case BASE64 -> Base64.getEncoder().encodeToString(bytes(JqText.of(value, budget)));
            case BASE64D -> decoded(value, JqText.of(value, budget));
            case BASE32 -> base32(bytes(JqText.of(value, budget)));
            case BASE32D -> fromBase32(value, JqText.of(value, budget));
        };
        budget.checkValue(text.length());
        return text;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String row(JsonNode value, String format, String separator, Function<JsonNode, String> cell) {
        if (!value.isArray()) {
            throw JqError.of(JqValue.shown(value) + " cannot be " + format + "-formatted, only an array can be");
        }
        return value.valueStream().map(each -> {
            if (each.isContainer()) {
                throw JqError.of(JqValue.shown(each) + " is not valid in a csv row");
            }
            return each.isNull() ? "" : cell.apply(each);
        }).collect(Collectors.joining(separator));
    }

    private static String quoted(JsonNode value, EvaluationBudget budget) {
        if (value.isContainer()) {
            throw JqError.of(JqValue.shown(value) + " can not be escaped for shell");
        }
        return value.isString()
                ? "'" + value.stringValue().replace("'", "'\\''") + "'"
                : JqText.json(value, budget);
    }

    private static String uri(String text) {
        StringBuilder escaped = new StringBuilder();
        for (byte each : bytes(text)) {
            char c = (char) (each & 0xFF);
            boolean plain = c < 0x80 && (Character.isLetterOrDigit(c) || "-_.~".indexOf(c) >= 0);
            escaped.append(plain ? String.valueOf(c) : String.format(Locale.ROOT, "%%%02X", (int) c));
        }
        return escaped.toString();
    }

    private static String unescaped(JsonNode value, String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] from = bytes(text);
        for (int i = 0; i < from.length; i++) {
            if (from[i] != '%') {
                bytes.write(from[i]);
                continue;
            }
            boolean complete = i + 2 < from.length;
            int high = complete ? Character.digit(from[i + 1], 16) : -1;
            int low = complete ? Character.digit(from[i + 2], 16) : -1;
            if (high < 0 || low < 0) {
                throw JqError.of(JqValue.shown(value) + " is not a valid uri encoding");
            }
            bytes.write(high << 4 | low);
            i += 2;
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static String decoded(JsonNode value, String text) {
        String digits = text.replaceAll("=+$", "");
        if (digits.chars().anyMatch(c -> c >= 0x80 || !Character.isLetterOrDigit(c) && c != '+' && c != '/')) {
            throw JqError.of(JqValue.shown(value) + " is not valid base64 data");
        }
        if (digits.length() % 4 == 1) {
            throw JqError.of(JqValue.shown(value) + " trailing base64 byte found");
        }
        return new String(Base64.getDecoder().decode(digits), StandardCharsets.UTF_8);
    }

    private static String base32(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        long bits = 0;
        int count = 0;
        for (byte each : bytes) {
            bits = bits << 8 | each & 0xFF;
            count += 8;
            while (count >= 5) {
                count -= 5;
                text.append(BASE32_DIGITS.charAt((int) (bits >> count) & 31));
            }
        }
        if (count > 0) {
            text.append(BASE32_DIGITS.charAt((int) (bits << 5 - count) & 31));
        }
        return text.append("=".repeat((BASE32_GROUP - text.length() % BASE32_GROUP) % BASE32_GROUP)).toString();
    }

    private static String fromBase32(JsonNode value, String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long bits = 0;
        int count = 0;
        for (char c : text.replaceAll("=+$", "").toCharArray()) {
            int digit = BASE32_DIGITS.indexOf(c);
            if (digit < 0) {
                throw JqError.of(JqValue.shown(value) + " is not valid base32 data");
            }
            bits = bits << 5 | digit;
            count += 5;
            if (count >= 8) {
                count -= 8;
                bytes.write((int) (bits >> count));
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
