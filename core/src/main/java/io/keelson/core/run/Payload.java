package io.keelson.core.run;

import io.keelson.core.lifecycle.EventType;
import org.jspecify.annotations.Nullable;

/** What an event tells beside when and of what: one record per type, its members named as on the wire, in camel case. */
public sealed interface Payload extends PayloadPart
        permits RunPayload, AgentPayload, TaskPayload, StepPayload, OtherPayload {

    EventType type();

    /** True where a request asked for this very change, though events of its type are usually decided otherwise. */
    default boolean asked() {
        return false;
    }

    @Override
    default void write(Members to) {
        // one without members
    }

    /** Who decided it, where that is not who decides events of its type. */
    default @Nullable Actor actor() {
        return null;
    }
}
