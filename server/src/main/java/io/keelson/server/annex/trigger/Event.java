package io.keelson.server.annex.trigger;

import io.keelson.server.base.json.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * An event that may be stored.
 *
 * @param headers by name in small letters, without credentials
 */
record Event(String key, ObjectNode headers, JsonNode body) {

    /** Maximum characters of a key. */
    static final int MAX_KEY = 255;

    /** Characters of its headers and body, about. */
    long chars() {
        return key.length() + headers.toString().length() + (long) body.toString().length();
    }

    /** The scope of a trigger's expressions. */
    static ObjectNode scope(ObjectNode headers, JsonNode body) {
        ObjectNode scope = Json.object();
        scope.set("headers", headers);
        scope.set("body", body);
        return scope;
    }
}
