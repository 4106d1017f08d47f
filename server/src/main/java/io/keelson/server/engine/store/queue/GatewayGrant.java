package io.keelson.server.engine.store.queue;

import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The grant of a step for the gateway, within the rules.
 *
 * @param models names; null for all that the rules allow
 * @param tools names; null for all that the rules allow
 */
public record GatewayGrant(@Nullable List<String> models, @Nullable List<String> tools) {

    private static final Set<String> MEMBERS = Set.of("models", "tools");
    private static final GatewayGrant ALL = new GatewayGrant(null, null);

    public GatewayGrant {
        models = models == null ? null : List.copyOf(models);
        tools = tools == null ? null : List.copyOf(tools);
    }

    /**
     * Reads {@code true}, or an object with the lists {@code models} and {@code tools}.
     *
     * @return null for {@code false} and for nothing
     * @throws IllegalArgumentException with the reason for any other value
     */
    public static @Nullable GatewayGrant of(JsonNode value) {
        if (value.isMissingNode() || value.isNull() || value.isBoolean() && !value.booleanValue()) {
            return null;
        }
        if (value.isBoolean()) {
            return ALL;
        }
        if (!value.isObject() || !MEMBERS.containsAll(value.propertyNames())) {
            throw new IllegalArgumentException("must be true, or an object with the lists models and tools");
        }
        return new GatewayGrant(names(value, "models"), names(value, "tools"));
    }

    private static @Nullable List<String> names(JsonNode value, String member) {
        JsonNode list = value.path(member);
        if (list.isMissingNode() || list.isNull()) {
            return null;
        }
        List<String> names = new ArrayList<>();
        list.forEach(name -> names.add(name.asString("")));
        if (!list.isArray() || names.contains("")) {
            throw new IllegalArgumentException(member + " must be a list of names");
        }
        return names;
    }

    /** Whether the model is on the list. */
    public boolean allowsModel(String name) {
        return models == null || models.contains(name);
    }

    /** Whether the tool is on the list. */
    public boolean allowsTool(String name) {
        return tools == null || tools.contains(name);
    }

    ObjectNode document() {
        ObjectNode document = Json.object();
        if (models != null) {
            document.set("models", Json.strings(models));
        }
        if (tools != null) {
            document.set("tools", Json.strings(tools));
        }
        return document;
    }
}
