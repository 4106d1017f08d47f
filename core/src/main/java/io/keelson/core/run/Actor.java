package io.keelson.core.run;

import org.jspecify.annotations.Nullable;

/**
 * Who caused a change, as every event records it.
 *
 * @param type {@code system}, {@code coordinator}, {@code agent}, {@code verifier}, {@code human}, {@code service} or
 *     {@code reconciler}
 * @param id the name of a person or service, a worker's or node's id; null for the system itself
 */
public record Actor(String type, @Nullable String id) {

    public static final Actor SYSTEM = new Actor("system", null);
    public static final Actor RECONCILER = new Actor("reconciler", null);

    public static Actor human(String name) {
        return new Actor("human", name);
    }

    /** A program that acts by itself. */
    public static Actor service(String name) {
        return new Actor("service", name);
    }

    public static Actor agent(String worker) {
        return new Actor("agent", worker);
    }
}
