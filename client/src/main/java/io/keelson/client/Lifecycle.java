package io.keelson.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A published state machine: a canonical one, or a contract's.
 *
 * @param name the entity, or the contract
 * @param entity its entity: {@code run}, {@code agent}, {@code task} or {@code step}
 * @param projection how the canonical states look in a contract; empty for a canonical machine
 * @param title a contract's own name; null otherwise
 * @param machines a contract's machines of tasks or steps, this one being the machine of its runs; empty otherwise
 */
public record Lifecycle(String name, String entity, @Nullable String initial, List<State> states,
        List<Transition> transitions, List<Projected> projection, @Nullable String title, List<Lifecycle> machines) {

    public Lifecycle {
        projection = projection == null ? List.of() : List.copyOf(projection);
        machines = machines == null ? List.of() : List.copyOf(machines);
    }

    /** @param type {@code pending}, {@code running}, {@code paused} or {@code terminal} */
    public record State(String name, @Nullable String type, boolean terminal) {}

    /**
     * @param by what causes it
     * @param event the type of the event that it writes; null in contracts
     */
    public record Transition(String from, String to, @Nullable String by, @Nullable String event) {}

    /**
     * @param canonical the canonical state
     * @param when only in this circumstance; null for all that have no line of their own
     * @param state the contract's state
     * @param newItem true when the contract sees a new item begin here
     */
    public record Projected(String canonical, @Nullable String when, String state, boolean newItem) {}
}
