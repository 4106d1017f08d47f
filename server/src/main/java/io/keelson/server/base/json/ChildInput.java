package io.keelson.server.base.json;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The input of a step that starts a run: the parent run resolves one part, the child run the other. */
public final class ChildInput {
    private static final List<String> OWN = List.of("plan", "output", "config");

    private ChildInput() {}

    /** The members that the starting run resolves: all but the child's plan, output and config. A plan that is a text is resolved. */
    public static JsonNode outer(JsonNode input) {
        if (!(input instanceof ObjectNode object)) {
            return input;
        }
        ObjectNode outer = object.deepCopy();
        OWN.stream().filter(key -> !key.equals("plan") || outer.path(key).isObject()).forEach(outer::remove);
        return outer;
    }

    /** The input for the child run, with the resolved members. */
    public static JsonNode joined(JsonNode input, JsonNode resolved) {
        ObjectNode joined = (ObjectNode) input.deepCopy();
        resolved.properties().forEach(each -> joined.set(each.getKey(), each.getValue()));
        return joined;
    }
}
