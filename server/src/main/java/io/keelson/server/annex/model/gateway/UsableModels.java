package io.keelson.server.annex.model.gateway;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceTable;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** The models that a step may request. The models of a workspace are remembered for a second; commits charge by the price in force. */
final class UsableModels {
    private static final int NOT_FOUND = 404;
    private static final Duration REMEMBERED = Duration.ofSeconds(1);
    private static final int MAX_WORKSPACES = 10_000;

    private final WorkspaceModels models;
    private final PriceTable prices;
    private final Cache<UUID, List<String>> ofWorkspaces = Caffeine.newBuilder().expireAfterWrite(REMEMBERED)
            .maximumSize(MAX_WORKSPACES).executor(Runnable::run).build();

    UsableModels(WorkspaceModels models, PriceTable prices) {
        this.models = models;
        this.prices = prices;
    }

    /** Their names, in order. */
    List<String> names(Found caller) {
        return ofWorkspaces.get(caller.lease().workspaceId(), this::ofWorkspace).stream()
                .filter(name -> caller.grant().allowsModel(name)).toList();
    }

    /** @throws GatewayError {@code model_not_allowed} */
    ConfiguredModel find(Found caller, String name) throws GatewayError {
        List<String> names = names(caller);
        return models.configured().find(name).filter(model -> names.contains(model.name())).orElseThrow(
                () -> new GatewayError(NOT_FOUND, "model_not_allowed", "the step may not use the model '"
                        + Excerpt.piece(name) + "'; it may use: "
                        + (names.isEmpty() ? "none" : String.join(", ", names))));
    }

    private List<String> ofWorkspace(UUID workspace) {
        List<String> names = models.configured().all().stream().map(ConfiguredModel::name).toList();
        List<String> allowed = models.allowed(workspace).map(list -> names.stream().filter(list::contains).toList())
                .orElse(names);
        Set<String> unpriced = prices.withoutPrice(PriceKind.MODEL, allowed.stream().collect(Collectors.toSet()));
        return allowed.stream().filter(name -> !unpriced.contains(name)).toList();
    }
}
