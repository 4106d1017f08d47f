package io.keelson.server.annex.effect;

import io.keelson.server.annex.effect.EffectSettings.Endpoint;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Command types that users register: each is sent to its own address. */
final class EndpointAdapter implements EffectAdapter {

    private final Provider provider;
    private final Map<String, Endpoint> endpoints = new TreeMap<>();

    public EndpointAdapter(Provider provider, Collection<Endpoint> endpoints) {
        this.provider = provider;
        endpoints.forEach(each -> this.endpoints.put(each.type(), each));
    }

    boolean serves(String type) {
        return endpoints.containsKey(type);
    }

    List<String> types() {
        return List.copyOf(endpoints.keySet());
    }

    @Override
    public String name() {
        return "endpoint";
    }

    @Override
    public boolean idempotent(String type) {
        Endpoint endpoint = endpoints.get(type);
        return endpoint != null && endpoint.idempotent();
    }

    @Override
    public CommandOutcome execute(Effect effect) throws InterruptedException {
        Endpoint endpoint = endpoints.get(effect.type());
        return endpoint == null
                ? new CommandOutcome.NotDone("COMMAND_TYPE_UNKNOWN", "the settings have no " + effect.type(), null)
                : provider.post(endpoint.url(), effect, effect.payload(), false);
    }

    @Override
    public Map<UUID, ObjectNode> read(UUID workspaceId, ResourceKind kind, Collection<Made> made) {
        return Map.of();
    }
}
