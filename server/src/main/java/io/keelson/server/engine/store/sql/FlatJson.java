package io.keelson.server.engine.store.sql;

import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes flat JSON objects for events: strings, numbers, booleans, lists and maps of them. There is one per event, and
 * a mapper took a twelfth of the committers' time (docs/adr/0011).
 */
public final class FlatJson {
    private static final String HEX = "0123456789abcdef";

    private final StringBuilder text = new StringBuilder(96).append('{');

    public FlatJson put(String name, @Nullable Object value) {
        name(name);
        value(value);
        return this;
    }

    /** Adds a member whose value is JSON text. */
    public FlatJson putJson(String name, String json) {
        name(name);
        text.append(json);
        return this;
    }

    private void name(String name) {
        if (text.length() > 1) {
            text.append(',');
        }
        string(name);
        text.append(':');
    }

    private void value(@Nullable Object value) {
        switch (value) {
            case null -> text.append("null");
            case Number number -> text.append(number);
            case Boolean flag -> text.append(flag);
            case Collection<?> values -> list(values);
            case Map<?, ?> members -> map(members);
            default -> string(value.toString());
        }
    }

    private void list(Collection<?> values) {
        text.append('[');
        boolean first = true;
        for (Object value : values) {
            if (!first) {
                text.append(',');
            }
            first = false;
            value(value);
        }
        text.append(']');
    }

    private void map(Map<?, ?> members) {
        text.append('{');
        boolean first = true;
        for (Map.Entry<?, ?> member : members.entrySet()) {
            if (!first) {
                text.append(',');
            }
            first = false;
            string(String.valueOf(member.getKey()));
            text.append(':');
            value(member.getValue());
        }
        text.append('}');
    }

    private void string(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ') {
                text.append("\\u00").append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }

    @Override
    public String toString() {
        return text + "}";
    }
}
