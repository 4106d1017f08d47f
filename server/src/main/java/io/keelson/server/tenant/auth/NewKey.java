package io.keelson.server.tenant.auth;

import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A key to be made.
 *
 * @param name for people, so that they know later what it is for
 * @param principal the name of whom it is for; made where the workspace has none of that name
 * @param kind of the principal; null for that of the one there is, or a service
 * @param lifetime null for no end
 */
public record NewKey(String name, String principal, Principal.@Nullable Kind kind, Set<Scope> scopes,
        @Nullable Duration lifetime) {

    public NewKey {
        scopes = Set.copyOf(scopes);
    }
}
