package io.keelson.server.annex.model.registry;

import io.keelson.core.money.TokenPrices;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The configured models by name. Does not change while the server runs; safe for use by many threads. */
public final class Models {

    /** No model is configured. */
    public static final Models NONE = new Models(List.of(), List.of());

    private final Map<String, ConfiguredModel> byName = new TreeMap<>();
    private final List<Path> keyFiles;

    /** @param keyFiles files that keys were read from, which no tool may read; absolute */
    public Models(Collection<ConfiguredModel> models, List<Path> keyFiles) {
        models.forEach(model -> byName.put(model.name(), model));
        this.keyFiles = List.copyOf(keyFiles);
    }

    public Optional<ConfiguredModel> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** All models, by name. */
    public List<ConfiguredModel> all() {
        return List.copyOf(byName.values());
    }

    /** Files that keys were read from; absolute. */
    public List<Path> keyFiles() {
        return keyFiles;
    }

    /** The prices that the configuration sets, by the model's name. */
    public Map<String, TokenPrices> prices() {
        Map<String, TokenPrices> prices = new LinkedHashMap<>();
        byName.values().forEach(model -> {
            TokenPrices usd = model.prices();
            if (usd != null) {
                prices.put(model.name(), usd);
            }
        });
        return prices;
    }
}
