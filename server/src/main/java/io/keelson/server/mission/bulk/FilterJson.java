package io.keelson.server.mission.bulk;

import io.keelson.server.engine.store.read.RunSelection;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Filters in jobs and in documents: unset conditions are left out. */
final class FilterJson {

    private FilterJson() {}

    static ObjectNode of(RunSelection filter) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        put(json, "state", filter.states().isEmpty() ? null : filter.states().getFirst());
        put(json, "state_type", filter.stateType());
        if (!filter.tags().isEmpty()) {
            ArrayNode tags = json.putArray("tags");
            filter.tags().forEach(tags::add);
        }
        put(json, "name", filter.name());
        put(json, "text", filter.text());
        put(json, "created_after", filter.createdAfter());
        put(json, "created_before", filter.createdBefore());
        put(json, "recipe_id", filter.recipe());
        put(json, "trigger", filter.trigger());
        put(json, "external_id", filter.externalId());
        put(json, "error_code", filter.errorCode());
        if (!filter.ids().isEmpty()) {
            ArrayNode ids = json.putArray("ids");
            filter.ids().forEach(id -> ids.add(id.toString()));
        }
        return json;
    }

    static RunSelection read(JsonNode json) {
        String recipe = text(json, "recipe_id");
        String state = text(json, "state");
        return new RunSelection(state == null ? List.of() : List.of(state), text(json, "state_type"),
                json.path("tags").valueStream().map(JsonNode::stringValue).toList(), text(json, "name"),
                text(json, "text"), time(json, "created_after"), time(json, "created_before"),
                recipe == null ? null : UUID.fromString(recipe), text(json, "trigger"), text(json, "external_id"),
                text(json, "error_code"), null,
                json.path("ids").valueStream().map(id -> UUID.fromString(id.stringValue())).toList());
    }

    private static void put(ObjectNode json, String name, @Nullable Object value) {
        if (value != null) {
            json.put(name, value.toString());
        }
    }

    private static @Nullable String text(JsonNode json, String name) {
        return json.path(name).isString() ? json.path(name).stringValue() : null;
    }

    private static @Nullable Instant time(JsonNode json, String name) {
        String text = text(json, name);
        return text == null ? null : Instant.parse(text);
    }
}
