package io.keelson.core.lifecycle;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A published state machine, in its own words. Staying in a state is always allowed; a transition to itself is listed
 * where the contract's document lists it.
 *
 * @param name the contract's, or the entity's when it is the canonical lifecycle
 * @param entity {@code run}, {@code agent}, {@code task} or {@code step}
 * @param states the first is the initial one
 */
public record Machine(String name, String entity, List<Node> states, List<Transition> transitions) {

    /** A state. */
    public record Node(String name, StateType type) {}

    /**
     * @param by the cause, in words
     * @param event the type of its event; null in contracts, which have none of their own
     */
    public record Transition(String from, String to, String by, @Nullable String event) {}

    /**
     * @throws IllegalArgumentException when a name or a transition occurs twice, or a transition leads to an unknown
     *                                  state
     */
    public Machine {
        states = List.copyOf(states);
        transitions = List.copyOf(transitions);
        Set<String> names = new HashSet<>();
        for (Node state : states) {
            require(names.add(state.name()), "state named twice: " + state.name());
        }
        Set<List<String>> pairs = new HashSet<>();
        for (Transition each : transitions) {
            require(names.contains(each.from()) && names.contains(each.to()), "not between states: " + each);
            require(pairs.add(List.of(each.from(), each.to())), "transition named twice: " + each);
        }
    }

    /** A canonical lifecycle. */
    public static <S extends Enum<S> & State> Machine of(Lifecycle<S> lifecycle) {
        return new Machine(lifecycle.entity(), lifecycle.entity(),
                lifecycle.states().stream().map(state -> new Node(state.wire(), state.type())).toList(),
                lifecycle.edges().stream().map(edge -> new Transition(edge.from().wire(), edge.to().wire(), edge.by(),
                        edge.event().wire())).toList());
    }

    public String initial() {
        return states.getFirst().name();
    }

    public boolean allows(String from, String to) {
        return from.equals(to) ? has(from)
                : transitions.stream().anyMatch(each -> each.from().equals(from) && each.to().equals(to));
    }

    /** Whether this state is the last of its item: nothing leads to another. */
    public boolean immutable(String state) {
        return transitions.stream().noneMatch(each -> each.from().equals(state) && !each.to().equals(state));
    }

    boolean has(String state) {
        return states.stream().anyMatch(each -> each.name().equals(state));
    }

    static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
