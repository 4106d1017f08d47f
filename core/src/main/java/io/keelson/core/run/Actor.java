package io.keelson.core.run;

import org.jspecify.annotations.Nullable;

/**
 * Who caused a change, as every event records it.
 *
 * @param type {@code system}, {@code coordinator}, {@code agent}, {@code verifier}, {@code human} or {@code reconciler}
 * @param id a key's, worker's or node's id; null for the system itself
 */
public record Actor(String type, @Nullable String id) {

    public static final Actor SYSTEM = new Actor("system", null);
    public static final Actor RECONCILER = new Actor("reconciler", null);

    public static Actor human(String id) {
        return new Actor("human", id);
    }

    public static Actor agent(String worker) {
        return new Actor("agent", worker);
    }
}
