package io.keelson.server.engine;

import io.keelson.server.json.ExactJson;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** JSON texts to trees and back, where the core's opaque texts meet tools and expressions. */
final class Json {
    private Json() {}

    static JsonNode read(String text) {
        return ExactJson.read(text);
    }

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    static JsonNode string(String text) {
        return JsonNodeFactory.instance.stringNode(text);
    }
}
