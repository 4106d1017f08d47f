package io.keelson.server.annex.model.gateway;

import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceTable;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The models that a step may request. */
final class UsableModels {
    private final WorkspaceModels models;
    private final PriceTable prices;

    UsableModels(WorkspaceModels models, PriceTable prices) {
        this.models = models;
        this.prices = prices;
    }

    /** Their names, in order. */
    List<String> names(Found caller) {
        List<String> names = models.configured().all().stream().map(ConfiguredModel::name)
                .filter(name -> caller.grant().allowsModel(name)).toList();
        List<String> allowed = models.allowed(caller.lease().workspaceId())
                .map(list -> names.stream().filter(list::contains).toList()).orElse(names);
        Set<String> unpriced = prices.withoutPrice(PriceKind.MODEL, allowed.stream().collect(Collectors.toSet()));
        return allowed.stream().filter(name -> !unpriced.contains(name)).toList();
    }
}
