package io.keelson.server.expr;

import io.keelson.server.json.JsonSize;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A scope as jq sees it: only the parts a template can read are converted, once. */
final class ScopeView {

    private ScopeView() {}

    /** @param most characters of JSON that are converted */
    static com.fasterxml.jackson.databind.JsonNode of(JsonNode scope, boolean whole, Set<List<String>> paths,
            long most) {
        JsonNode seen = whole || !scope.isObject() ? scope : pruned(scope, paths);
        if (JsonSize.chars(seen, most) > most) {
            throw new ExpressionException("EXPRESSION_OUTPUT_TOO_LARGE",
                    "the input of the expression is longer than " + most + " characters");
        }
        return JsonBridge.toJq(seen);
    }

    private static JsonNode pruned(JsonNode scope, Set<List<String>> paths) {
        ObjectNode view = JsonNodeFactory.instance.objectNode();
        for (List<String> path : paths) {
            String top = path.getFirst();
            JsonNode value = scope.get(top);
            if (value == null) {
                continue;
            }
            if (path.size() == 1 || !value.isObject()) {
                view.set(top, value);
            } else if (!paths.contains(List.of(top))) {
                ObjectNode part = view.get(top) instanceof ObjectNode known ? known : view.putObject(top);
                JsonNode child = value.get(path.get(1));
                if (child != null) {
                    part.set(path.get(1), child);
                }
            }
        }
        return view;
    }
}
