package io.keelson.core.run;

import io.keelson.core.lifecycle.EventType;
import org.jspecify.annotations.Nullable;

/** The data of an event: one record per type, its members named as on the wire, in camel case. */
public sealed interface Payload extends PayloadPart
        permits RunPayload, AgentPayload, TaskPayload, StepPayload, OtherPayload {

    EventType type();

    /** True where a request asked for this change, though events of its type usually have another actor. */
    default boolean requested() {
        return false;
    }

    @Override
    default void write(Members to) {
        // one without members
    }

    /** The actor, where it differs from the type's. */
    default @Nullable Actor actor() {
        return null;
    }
}
