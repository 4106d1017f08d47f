package io.keelson.server.tenant.audit;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The actor of an action, as the audit log records it.
 *
 * @param name of the principal; {@code system} for the server itself
 * @param kind in the words of events
 * @param keyId the API key; null for the server itself
 * @param address of the peer; null for the server itself
 */
public record AuditOrigin(String name, String kind, @Nullable UUID keyId, @Nullable String address) {

    /** The server by itself. */
    public static final AuditOrigin SERVER = new AuditOrigin("system", "system", null, null);
}
