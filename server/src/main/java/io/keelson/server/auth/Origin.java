package io.keelson.server.auth;

import org.jspecify.annotations.Nullable;

/**
 * Where an act comes from that the audit log records.
 *
 * @param caller null for the server itself
 * @param address of the peer; null for the server itself
 */
public record Origin(@Nullable Caller caller, @Nullable String address) {

    /** The server by itself. */
    public static final Origin SERVER = new Origin(null, null);

    /** Who acts, by name. */
    public String name() {
        return caller == null ? "system" : caller.principal().name();
    }

    /** In the words of events. */
    String kind() {
        return caller == null ? "system" : caller.principal().kind().actor();
    }
}
