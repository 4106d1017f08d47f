package io.keelson.core.run;

import io.keelson.core.lifecycle.ActorType;
import org.jspecify.annotations.Nullable;

/**
 * The cause of a change, as every event records it.
 *
 * @param id the name of a person or service, a worker's or node's id; null for the system itself
 */
public record Actor(ActorType type, @Nullable String id) {

    public static final Actor SYSTEM = new Actor(ActorType.SYSTEM, null);
    public static final Actor COORDINATOR = new Actor(ActorType.COORDINATOR, null);
    public static final Actor RECONCILER = new Actor(ActorType.RECONCILER, null);

    /** Its id, or its type without an id, as named in payloads. */
    public String name() {
        return id == null ? type.wire() : id;
    }

    public static Actor human(String name) {
        return new Actor(ActorType.HUMAN, name);
    }

    /** A program that acts on its own behalf. */
    public static Actor service(String name) {
        return new Actor(ActorType.SERVICE, name);
    }

    public static Actor agent(String worker) {
        return new Actor(ActorType.AGENT, worker);
    }
}
