package io.keelson.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A published state machine.
 *
 * @param entity what goes through it: {@code run}, {@code agent}, {@code task} or {@code step}
 */
public record Lifecycle(String name, String entity, @Nullable String initial, List<State> states,
        List<Transition> transitions) {

    /** @param type {@code pending}, {@code running}, {@code paused} or {@code terminal} */
    public record State(String name, @Nullable String type, boolean terminal) {}

    /**
     * @param by what causes it
     * @param event the type of the event that it writes
     */
    public record Transition(String from, String to, @Nullable String by, @Nullable String event) {}
}
