package io.keelson.core.lifecycle;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The transition table of one kind of entity: an allow-list. All other transitions are refused.
 *
 * @param <S> the entity's states
 */
public final class Lifecycle<S extends Enum<S> & State> {
    private final String entity;
    private final Class<S> states;
    private final S initial;
    private final List<Edge<S>> edges;
    private final Map<S, Map<S, Edge<S>>> table;

    Lifecycle(String entity, Class<S> states, S initial, List<Edge<S>> edges) {
        this.entity = entity;
        this.states = states;
        this.initial = initial;
        this.edges = List.copyOf(edges);
        this.table = new EnumMap<>(states);
        for (S state : states.getEnumConstants()) {
            table.put(state, new EnumMap<>(states));
        }
        for (Edge<S> edge : edges) {
            if (exits(edge.from()).put(edge.to(), edge) != null) {
                throw new IllegalArgumentException("edge named twice: " + edge);
            }
        }
    }

    /** {@code run}, {@code agent}, {@code task} or {@code step}. */
    public String entity() {
        return entity;
    }

    public S initial() {
        return initial;
    }

    public List<S> states() {
        return List.of(states.getEnumConstants());
    }

    /** All allowed transitions. */
    public List<Edge<S>> edges() {
        return edges;
    }

    public boolean allows(S from, S to) {
        return exits(from).containsKey(to);
    }

    /** The edge between two states, or null when the transition is forbidden. */
    public @Nullable Edge<S> edge(S from, S to) {
        return exits(from).get(to);
    }

    /** The states that may follow, in declaration order; empty for a state without a way out. */
    public Set<S> targets(S from) {
        return exits(from).keySet();
    }

    private Map<S, Edge<S>> exits(S from) {
        return Objects.requireNonNull(table.get(from), "every state has a row in its table");
    }
}
