package io.keelson.core.lifecycle;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Builds one machine of a contract with its projection, in the order of the contract's document. */
final class ContractTable<S extends Enum<S> & State> {

    private final String contract;
    private final Lifecycle<S> canonical;
    private final List<Machine.Node> states = new ArrayList<>();
    private final List<Machine.Transition> transitions = new ArrayList<>();
    private final Map<S, Map<Circumstance, String>> projection;

    ContractTable(String contract, Lifecycle<S> canonical) {
        this.contract = contract;
        this.canonical = canonical;
        this.projection = new EnumMap<>(canonical.initial().getDeclaringClass());
    }

    /** A state of the contract, and the canonical states with that name; the first call defines the initial state. */
    @SafeVarargs
    final ContractTable<S> state(String name, StateType type, S... shown) {
        states.add(new Machine.Node(name, type));
        return names(Circumstance.USUAL, name, shown);
    }

    /** Another name for canonical states in a circumstance. */
    @SafeVarargs
    final ContractTable<S> names(Circumstance when, String name, S... shown) {
        for (S state : shown) {
            String before = projection.computeIfAbsent(state, s -> new EnumMap<>(Circumstance.class)).put(when, name);
            Machine.require(before == null, state + " has two names");
        }
        return this;
    }

    Row from(String from) {
        return new Row(from);
    }

    Projection<S> build() {
        return new Projection<>(canonical, new Machine(contract, canonical.entity(), states, transitions), projection);
    }

    /** The transitions from one state. */
    final class Row {
        private final String from;

        private Row(String from) {
            this.from = from;
        }

        Row to(String to, String by) {
            transitions.add(new Machine.Transition(from, to, by, null));
            return this;
        }
    }
}
