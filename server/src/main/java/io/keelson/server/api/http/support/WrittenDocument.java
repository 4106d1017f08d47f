package io.keelson.server.api.http.support;

import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.JsonSize;
import java.util.List;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The bytes of a document. A list has all items that can be written, also beside one with a value of too many levels. */
final class WrittenDocument {

    private WrittenDocument() {}

    /** @throws StreamConstraintsException when the document cannot be written */
    static byte[] bytes(JsonNode document) {
        try {
            return Json.write(document);
        } catch (StreamConstraintsException e) {
            if (!(document instanceof ObjectNode list) || !(list.get("items") instanceof ArrayNode items)) {
                throw e;
            }
            ArrayNode writable = Json.array();
            items.forEach(item -> writable.add(writable(item)));
            return Json.write(list.deepCopy().set("items", writable));
        }
    }

    /** The item with null in place of each value of too many levels, whose member is named in {@code omitted}. */
    private static JsonNode writable(JsonNode item) {
        List<String> deep = item.propertyStream().filter(member -> JsonSize.isTooDeep(member.getValue()))
                .map(member -> member.getKey()).toList();
        if (deep.isEmpty()) {
            return item;
        }
        ObjectNode reduced = Json.object().setAll((ObjectNode) item);
        ArrayNode omitted = reduced.get("omitted") instanceof ArrayNode known ? known.deepCopy() : Json.array();
        deep.forEach(member -> {
            reduced.putNull(member);
            omitted.add(member);
        });
        return reduced.set("omitted", omitted);
    }
}
