package io.keelson.server.annex.effect;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Selects the adapter of a command. */
final class Adapters {

    private final EffectAdapter main;
    private final @Nullable EndpointAdapter endpoints;
    private final Map<String, EffectAdapter> byName;

    /**
     * @param main makes deployments and orders
     * @param others serve resources that they have made before
     * @param endpoints serves the types that users register; null if absent
     */
    public Adapters(EffectAdapter main, Collection<? extends EffectAdapter> others,
            @Nullable EndpointAdapter endpoints) {
        this.main = main;
        this.endpoints = endpoints;
        this.byName = Stream.of(Stream.of(main), others.stream(), Stream.ofNullable(endpoints))
                .<EffectAdapter>flatMap(each -> each)
                .collect(Collectors.toMap(EffectAdapter::name, Function.identity()));
    }

    /** Empty where the settings no longer have it. */
    Optional<EffectAdapter> named(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** The adapter of a command that acts on nothing made before. */
    EffectAdapter making(String type) {
        return endpoints != null && endpoints.serves(type) ? endpoints : main;
    }

    /** The types that users have registered, by name. */
    public List<String> registered() {
        return endpoints == null ? List.of() : endpoints.types();
    }
}
