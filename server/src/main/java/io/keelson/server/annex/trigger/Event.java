package io.keelson.server.annex.trigger;

import io.keelson.server.base.json.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * An event that may be stored.
 *
 * @param headers an object as a JSON text, by name in small letters, without credentials
 * @param body as a JSON text
 */
record Event(String key, String headers, String body) {

    /** Maximum characters of a key. */
    static final int MAX_KEY = 255;

    static Event of(String key, ObjectNode headers, JsonNode body) {
        return new Event(key, headers.toString(), body.toString());
    }

    /** A copy with another key. */
    Event withKey(String other) {
        return new Event(other, headers, body);
    }

    /** Characters of its texts. */
    long chars() {
        return key.length() + headers.length() + (long) body.length();
    }

    /** The scope of a trigger's expressions. */
    static ObjectNode scope(ObjectNode headers, JsonNode body) {
        ObjectNode scope = Json.object();
        scope.set("headers", headers);
        scope.set("body", body);
        return scope;
    }
}
