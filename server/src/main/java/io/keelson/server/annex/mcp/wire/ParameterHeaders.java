package io.keelson.server.annex.mcp.wire;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Headers that repeat arguments of a call, as the tool's input schema asks with {@code x-mcp-header}. */
public final class ParameterHeaders {
    private static final String MARK = "x-mcp-header";
    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final Pattern PLAIN = Pattern.compile("[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?");
    private static final Set<String> TYPES = Set.of("integer", "string", "boolean");

    private ParameterHeaders() {}

    /** Why the schema's marks are not usable; null when they are. A tool with others must not be used over HTTP. */
    public static @Nullable String flaw(JsonNode schema) {
        Set<String> names = new HashSet<>();
        Map<String, JsonNode> marked = new LinkedHashMap<>();
        collect(schema, "", marked);
        for (Map.Entry<String, JsonNode> each : marked.entrySet()) {
            String name = each.getValue().path(MARK).asString("");
            if (!TOKEN.matcher(name).matches() || !names.add(name.toLowerCase(Locale.ROOT))) {
                return "the header of " + each.getKey() + " has no name of its own";
            }
            if (!TYPES.contains(each.getValue().path("type").asString(""))) {
                return "the header of " + each.getKey() + " is for no integer, string or boolean";
            }
        }
        return count(schema) == marked.size() ? null : "a header is asked for at a place that no call has surely";
    }

    private static int count(JsonNode schema) {
        int own = schema.isObject() && schema.has(MARK) ? 1 : 0;
        return own + schema.valueStream().mapToInt(ParameterHeaders::count).sum();
    }

    private static void collect(JsonNode schema, String at, Map<String, JsonNode> marked) {
        schema.path("properties").forEachEntry((name, property) -> {
            if (property.has(MARK)) {
                marked.put(at + "/" + name, property);
            }
            collect(property, at + "/" + name, marked);
        });
    }

    /** The headers of a call. */
    static Map<String, String> of(JsonNode schema, JsonNode arguments) {
        Map<String, String> headers = new LinkedHashMap<>();
        add(schema, arguments, headers);
        return headers;
    }

    private static void add(JsonNode schema, JsonNode arguments, Map<String, String> headers) {
        schema.path("properties").forEachEntry((name, property) -> {
            JsonNode value = arguments.path(name);
            if (property.has(MARK) && (value.isString() || value.isIntegralNumber() || value.isBoolean())) {
                headers.put("Mcp-Param-" + property.get(MARK).asString(), encoded(value.asString()));
            }
            add(property, value, headers);
        });
    }

    /** The text that a header carries. */
    public static String decoded(String header) {
        if (!header.startsWith("=?base64?") || !header.endsWith("?=")) {
            return header;
        }
        try {
            return new String(Base64.getDecoder().decode(header.substring("=?base64?".length(), header.length() - 2)),
                    StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return header;
        }
    }

    /** As it is where a header can carry it, else in Base64 between marks. */
    static String encoded(String value) {
        boolean plain = PLAIN.matcher(value).matches() && !(value.startsWith("=?base64?") && value.endsWith("?="));
        return plain ? value
                : "=?base64?" + Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8)) + "?=";
    }
}
