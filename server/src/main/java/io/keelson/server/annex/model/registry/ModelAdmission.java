package io.keelson.server.annex.model.registry;

import io.keelson.server.mission.plan.ModelRules;
import io.keelson.server.mission.plan.ModelRules.Objection;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceTable;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Refuses models in plans by the price list and by the models that a workspace may use. */
public record ModelAdmission(PriceTable prices, WorkspaceModels models) {

    public ModelRules of(UUID workspace) {
        return new ModelRules() {
            @Override
            public Map<String, Objection> refused(Set<String> named) {
                return ModelAdmission.this.refused(workspace, named);
            }

            @Override
            public boolean configured(String model) {
                return models.configured().find(model).isPresent();
            }

            @Override
            public List<String> known() {
                return models.configured().all().stream().map(ConfiguredModel::name)
                        .filter(name -> models.allows(workspace, name)).sorted().toList();
            }

            @Override
            public @Nullable String family(String model) {
                return models.configured().find(model).map(ConfiguredModel::family).orElse(null);
            }
        };
    }

    private Map<String, Objection> refused(UUID workspace, Set<String> named) {
        Map<String, Objection> refused = new HashMap<>();
        Map<String, List<String>> fallbacks = new HashMap<>();
        named.forEach(name -> models.configured().find(name)
                .ifPresent(model -> fallbacks.put(name, model.fallback())));
        Set<String> asked = new HashSet<>(named);
        fallbacks.values().forEach(asked::addAll);
        Set<String> unpriced = prices.withoutPrice(PriceKind.MODEL, asked);
        fallbacks.forEach((name, others) -> {
            if (others.stream().anyMatch(unpriced::contains)) {
                refused.put(name, Objection.NO_PRICE_OF_FALLBACK);
            }
        });
        named.stream().filter(unpriced::contains).forEach(model -> refused.put(model, Objection.NO_PRICE));
        Optional<List<String>> allowed = models.allowed(workspace);
        allowed.ifPresent(names -> named.stream().filter(model -> !names.contains(model))
                .forEach(model -> refused.put(model, Objection.MODEL_NOT_ALLOWED)));
        return refused;
    }
}
