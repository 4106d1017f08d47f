package io.keelson.server.engine.store.sql;

import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * JSON text as a column of type {@code jsonb} gives it back, but for blanks: shorter keys first, numbers without exponents. So an
 * output in memory equals the output that the database would answer.
 */
public final class JsonbText {
    /** PostgreSQL refuses numbers with more digits after the point than this, and with many more before it. */
    private static final int MAX_SCALE = 16_000;
    private static final Comparator<Key> ORDER =
            Comparator.comparingInt((Key key) -> key.bytes.length).thenComparing(Key::bytes, Arrays::compareUnsigned);

    private record Key(String name, byte[] bytes) {}

    private JsonbText() {}

    /** Returns null for a text with a number that PostgreSQL may refuse. */
    public static @Nullable String of(String json) {
        StringBuilder text = new StringBuilder(json.length());
        return write(Json.read(Objects.requireNonNull(TextColumns.storableJson(json))), text) ? text.toString() : null;
    }

    private static boolean write(JsonNode node, StringBuilder text) {
        return switch (node.getNodeType()) {
            case OBJECT -> object(node, text);
            case ARRAY -> array(node, text);
            case NUMBER -> number(node.decimalValue(), text);
            default -> {
                text.append(node);
                yield true;
            }
        };
    }

    private static boolean object(JsonNode node, StringBuilder text) {
        char before = '{';
        for (Key key : node.propertyNames().stream()
                .map(name -> new Key(name, name.getBytes(StandardCharsets.UTF_8))).sorted(ORDER).toList()) {
            text.append(before).append(JsonNodeFactory.instance.stringNode(key.name)).append(':');
            if (!write(node.get(key.name), text)) {
                return false;
            }
            before = ',';
        }
        text.append(before == '{' ? "{}" : "}");
        return true;
    }

    private static boolean array(JsonNode node, StringBuilder text) {
        char before = '[';
        for (JsonNode each : node) {
            text.append(before);
            if (!write(each, text)) {
                return false;
            }
            before = ',';
        }
        text.append(before == '[' ? "[]" : "]");
        return true;
    }

    private static boolean number(BigDecimal number, StringBuilder text) {
        if (Math.abs(number.scale()) > MAX_SCALE) {
            return false;
        }
        text.append(number.toPlainString());
        return true;
    }
}
