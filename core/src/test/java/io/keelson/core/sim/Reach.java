package io.keelson.core.sim;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What simulations need not reach, each with its reason. They must reach everything else. */
public final class Reach {
    /** Edges of the lifecycles that the simulation does not take. */
    private static final Map<String, List<String>> EDGES = Map.of(
            "passed in one commit: nothing can come between",
            List.of("run resuming → cancelled",
                    "run resuming → failed", "run resuming → paused", "task assigned → queued",
                    "task assigned → cancelled", "task assigned → awaiting_retry"),
            "no command leads there", List.of("step awaiting_retry → failed", "task awaiting_retry → assigned"));

    /** Met now and then: a turn under a concurrency key mostly comes in time. */
    static final Set<String> RARE = Set.of("run pending → failed");

    /** Timers are decided under the run's lock, by the database's time. */
    private static final Set<String> PAIRS =
            Set.of("step waiting → completed × CLOCK_SKEWED", "step waiting → completed × VIEW_STALE");

    private Reach() {}

    /** Those that must be taken. */
    static Set<String> edges() {
        Set<String> beyond = EDGES.values().stream().flatMap(List::stream).collect(Collectors.toSet());
        return Coverage.allEdges().stream().filter(edge -> !beyond.contains(edge) && !RARE.contains(edge))
                .collect(Collectors.toSet());
    }

    static boolean possible(String pair) {
        return !PAIRS.contains(pair) && RARE.stream().noneMatch(pair::startsWith);
    }

    /** Simple names of the concrete records of a sealed interface. */
    static Stream<String> cases(Class<?> sealed) {
        return types(sealed).map(Class::getSimpleName);
    }

    /** The records of a sealed interface, and of the sealed interfaces in it. */
    public static Stream<Class<?>> types(Class<?> sealed) {
        return sealed.isSealed() ? Stream.of(sealed.getPermittedSubclasses()).flatMap(Reach::types).distinct()
                : Stream.of(sealed);
    }
}
