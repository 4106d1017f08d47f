package io.keelson.server.json;

import tools.jackson.databind.JsonNode;

/** How long a tree is as JSON text, without making the text. */
public final class JsonSize {

    private JsonSize() {}

    /** Chars of the compact text, escapes not counted; stops early with some number above {@code limit}. */
    public static long chars(JsonNode node, long limit) {
        if (node.isString()) {
            return node.stringValue().length() + 2L;
        }
        if (!node.isContainer()) {
            return node.isNumber() ? node.numberValue().toString().length() : 5;
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
