package io.keelson.server.tenant.auth;

import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A key to create.
 *
 * @param name describes the key's purpose to users
 * @param principal name of its principal; created if the workspace has no such principal
 * @param kind of the principal; null for the existing principal's kind, or a service
 * @param lifetime null for no end
 */
public record NewKey(String name, String principal, Principal.@Nullable Kind kind, Set<Scope> scopes,
        @Nullable Duration lifetime) {

    public NewKey {
        scopes = Set.copyOf(scopes);
    }
}
