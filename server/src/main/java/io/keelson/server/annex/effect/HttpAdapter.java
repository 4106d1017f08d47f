package io.keelson.server.annex.effect;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A provider of deployments and orders over HTTP; docs/guide/commands.md defines its answers. */
final class HttpAdapter implements EffectAdapter {

    /** Their names are part of one address. */
    private static final int MAX_CONCURRENT = 100;

    private final Provider provider;
    private final String base;
    private final boolean idempotent;

    /**
     * @param base without a trailing slash
     * @param idempotent whether it applies a repeated {@code Idempotency-Key} only once
     */
    public HttpAdapter(Provider provider, String base, boolean idempotent) {
        this.provider = provider;
        this.base = base;
        this.idempotent = idempotent;
    }

    @Override
    public String name() {
        return "http";
    }

    @Override
    public boolean idempotent(String type) {
        return idempotent;
    }

    @Override
    public CommandOutcome execute(Effect effect) throws InterruptedException {
        return switch (effect.type()) {
            case CommandTypes.DEPLOYMENT_CREATE -> make("/deployments", effect);
            case CommandTypes.ORDER_PLACE -> make("/orders", effect);
            case CommandTypes.DEPLOYMENT_STOP -> end("/deployments/", "/stop", effect);
            case CommandTypes.ORDER_CANCEL -> end("/orders/", "/cancel", effect);
            default -> new CommandOutcome.Refused("COMMAND_TYPE_UNKNOWN", "no adapter serves " + effect.type());
        };
    }

    private CommandOutcome make(String path, Effect effect) throws InterruptedException {
        ObjectNode body = effect.payload().deepCopy();
        body.put("client_id", effect.commandId().toString()).put("workspace_id", effect.workspaceId().toString());
        return provider.post(base + path, effect, body, true);
    }

    private CommandOutcome end(String before, String after, Effect effect) throws InterruptedException {
        return provider.post(base + before + encoded(String.valueOf(effect.reference())) + after, effect,
                effect.payload(), false);
    }

    @Override
    public Map<UUID, ObjectNode> read(UUID workspaceId, ResourceKind kind, Collection<Made> made)
            throws ProviderUnavailableException, InterruptedException {
        Map<UUID, ObjectNode> found = new HashMap<>();
        List<Made> all = List.copyOf(made);
        for (int from = 0; from < all.size(); from += MAX_CONCURRENT) {
            found.putAll(query(kind, all.subList(from, Math.min(all.size(), from + MAX_CONCURRENT))));
        }
        return found;
    }

    private Map<UUID, ObjectNode> query(ResourceKind kind, List<Made> made)
            throws ProviderUnavailableException, InterruptedException {
        JsonNode items = provider.get(base + "/" + kind.word() + "s?ids="
                + made.stream().map(each -> encoded(each.reference())).collect(Collectors.joining(","))).path("items");
        Map<String, ObjectNode> answered = new HashMap<>();
        items.forEach(item -> {
            if (item instanceof ObjectNode object) {
                answered.put(object.path("id").asString(""), object);
            }
        });
        Map<UUID, ObjectNode> found = new HashMap<>();
        made.stream().filter(each -> answered.containsKey(each.reference()))
                .forEach(each -> found.put(each.id(), answered.get(each.reference())));
        return found;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
