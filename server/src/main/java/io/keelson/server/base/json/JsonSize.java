package io.keelson.server.base.json;

import tools.jackson.databind.JsonNode;

/** How long a tree is as JSON text, without making the text. */
public final class JsonSize {

    /**
     * The deepest value that is stored: a document has at most 200 levels, and those around a value in a list, a request or an
     * answer count as well.
     */
    public static final int MAX_DEPTH = 180;

    private JsonSize() {}

    /** Whether more than {@value #MAX_DEPTH} objects and arrays are within each other. */
    public static boolean isTooDeep(JsonNode value) {
        return isDeeper(value, MAX_DEPTH);
    }

    private static boolean isDeeper(JsonNode value, int depth) {
        if (value.isEmpty()) {
            return depth == 0 && value.isContainer();
        }
        if (depth == 0) {
            return true;
        }
        for (JsonNode each : value) {
            if (each.isContainer() && isDeeper(each, depth - 1)) {
                return true;
            }
        }
        return false;
    }

    /** Chars of the compact text, escapes not counted; stops early with some number above {@code limit}. */
    public static long chars(JsonNode node, long limit) {
        if (node.isString()) {
            return node.stringValue().length() + 2L;
        }
        if (!node.isContainer()) {
            return node.isNumber() ? node.numberValue().toString().length() : 5;
        }
        if (node.isEmpty()) {
            return 2;
        }
        long chars = 2;
        if (node.isObject()) {
            for (var each : node.properties()) {
                chars += each.getKey().length() + 4L + chars(each.getValue(), limit - chars);
                if (chars > limit) {
                    return chars;
                }
            }
            return chars;
        }
        for (JsonNode each : node) {
            chars += 1 + chars(each, limit - chars);
            if (chars > limit) {
                return chars;
            }
        }
        return chars;
    }
}
