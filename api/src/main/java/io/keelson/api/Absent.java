package io.keelson.api;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/** Values of members that an answer does not have, so that readers need no check for null. */
public final class Absent {

    private Absent() {}

    /** The value; a JSON null if it is absent. */
    public static JsonNode asNull(@Nullable JsonNode value) {
        return value == null ? NullNode.getInstance() : value;
    }

    /** An unmodifiable copy; an empty list if it is absent. */
    public static <T> List<T> asEmpty(@Nullable List<T> items) {
        return items == null ? List.of() : List.copyOf(items);
    }

    /** An unmodifiable copy in the same order; an empty map if it is absent. */
    public static <V> Map<String, V> asEmpty(@Nullable Map<String, V> members) {
        return members == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(members));
    }
}
