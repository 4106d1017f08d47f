package io.keelson.server.base.expr;

import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/** The most frequent expression, {@code .a.b.c}, read from the scope without going through jq. */
final class SimplePath {

    private SimplePath() {}

    /** As jq: null where a name is missing or its parent is null. */
    static JsonNode read(JsonNode scope, List<String> path) {
        JsonNode node = scope;
        for (String name : path) {
            if (!node.isObject() && !node.isNull()) {
                throw new ExpressionException("EXPRESSION_FAILED",
                        "cannot read ." + name + " of a " + node.getNodeType().name().toLowerCase(Locale.ROOT));
            }
            JsonNode child = node.get(name);
            node = child == null ? NullNode.instance : child;
        }
        return node;
    }
}
