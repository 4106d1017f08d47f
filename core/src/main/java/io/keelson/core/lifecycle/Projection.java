package io.keelson.core.lifecycle;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Maps the canonical states of one entity to a contract's states.
 *
 * @param <S> the canonical states
 */
public final class Projection<S extends Enum<S> & State> {

    /**
     *
     * One line of the table.
     *
     * @param when the circumstance to which the line is confined; {@code USUAL} for all that have no line of their own
     * @param newItem true when the contract sees a new item begin here, because its end states are final
     */
    public record Row<S>(S canonical, Circumstance when, String state, boolean newItem) {}

    private final Lifecycle<S> canonical;
    private final Machine machine;
    private final Map<S, Map<Circumstance, String>> table;

    /** @throws IllegalArgumentException when a canonical state has no line, or a line names an unknown state */
    Projection(Lifecycle<S> canonical, Machine machine, Map<S, Map<Circumstance, String>> table) {
        this.canonical = canonical;
        this.machine = machine;
        this.table = new EnumMap<>(table);
        for (S state : canonical.states()) {
            Map<Circumstance, String> names = table.getOrDefault(state, Map.of());
            Machine.require(names.containsKey(Circumstance.USUAL), state + " has no name in " + machine.name());
            names.values().forEach(name -> Machine.require(machine.has(name), "no state " + name));
        }
    }

    public Lifecycle<S> canonical() {
        return canonical;
    }

    public Machine machine() {
        return machine;
    }

    /** The contract's name for a state. */
    public String of(S state, Circumstance circumstance) {
        Map<Circumstance, String> names = names(state);
        return names.getOrDefault(circumstance, Objects.requireNonNull(names.get(Circumstance.USUAL)));
    }

    /** The whole table, by canonical state. */
    public List<Row<S>> rows() {
        List<Row<S>> rows = new ArrayList<>();
        for (S state : canonical.states()) {
            names(state).forEach((when, name) -> rows.add(new Row<>(state, when, name, beginsAnew(state))));
        }
        return rows;
    }

    private boolean beginsAnew(S state) {
        return canonical.edges().stream().filter(edge -> edge.to() == state && edge.from() != state)
                .anyMatch(edge -> machine.immutable(of(edge.from(), Circumstance.USUAL)));
    }

    private Map<Circumstance, String> names(S state) {
        return Objects.requireNonNull(table.get(state), "every state has its line");
    }
}
