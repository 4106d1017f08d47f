package io.keelson.server.engine.execute;

import io.keelson.server.json.ExactJson;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** JSON texts to trees and back, where the core's opaque texts meet tools and expressions. */
public final class Json {
    private Json() {}

    public static JsonNode read(String text) {
        return ExactJson.read(text);
    }

    public static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    static JsonNode string(String text) {
        return JsonNodeFactory.instance.stringNode(text);
    }
}
