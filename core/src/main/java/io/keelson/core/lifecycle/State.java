package io.keelson.core.lifecycle;

/** A state of an entity: implemented by the four state enums. */
public interface State {

    /** The name as stored in {@code state} columns and sent to clients, lower case. */
    String wire();

    StateType type();

    /** True when no work of this entity can follow; a failed run may still be retried as a new attempt. */
    default boolean terminal() {
        return type() == StateType.TERMINAL;
    }
}
