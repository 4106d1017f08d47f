package io.keelson.client.plan;

import io.keelson.client.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The member {@code undo} of tasks and steps: one call, or a list of several. */
final class Undoing {
    private static final String UNDO = "undo";

    private Undoing() {}

    static void add(ObjectNode body, String tool, Object input) {
        ObjectNode call = Json.object().put("tool", tool);
        call.set("input", Json.of(input));
        JsonNode before = body.path(UNDO);
        if (before.isMissingNode()) {
            body.set(UNDO, call);
        } else if (before instanceof ArrayNode calls) {
            calls.add(call);
        } else {
            body.putArray(UNDO).add(before).add(call);
        }
    }
}
