package io.keelson.server.base.artifact;

import java.time.Instant;

/**
 * The database whose artifacts a prefix has.
 *
 * @param id of the database; empty if the marker is unreadable
 * @param name of the database, for messages
 * @param since when the database became the owner, by the clock of the store
 */
public record StoreOwner(String id, String name, Instant since) {

    @Override
    public String toString() {
        return id.isEmpty() ? "an unknown program" : "the database " + name + " (" + id + "), since " + since;
    }
}
