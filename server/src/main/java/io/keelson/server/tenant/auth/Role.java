package io.keelson.server.tenant.auth;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The scopes of people and services whom an identity provider vouches for. Roles of one subject add up. */
public enum Role {
    VIEWER(Scope.RUNS_READ, Scope.CREDITS_READ),
    OPERATOR(Scope.RUNS_READ, Scope.CREDITS_READ, Scope.RUNS_WRITE),
    APPROVER(Scope.RUNS_READ, Scope.CREDITS_READ, Scope.APPROVE),
    ADMIN(Scope.RUNS_READ, Scope.CREDITS_READ, Scope.RUNS_WRITE, Scope.APPROVE, Scope.CREDITS_GRANT, Scope.ADMIN),
    /** For services. An agent with {@code approve} could approve its own work. */
    WORKER(Scope.WORK, Scope.RUNS_READ);

    private final List<Scope> scopes;

    Role(Scope... scopes) {
        this.scopes = List.of(scopes);
    }

    /** As settings have it. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<Role> of(String wire) {
        return Arrays.stream(values()).filter(role -> role.wire().equals(wire)).findFirst();
    }

    /** The scopes of this role, in the order of their constants. */
    public Set<Scope> scopes() {
        return EnumSet.copyOf(scopes);
    }

    /** The scopes of all of the roles together. */
    public static Set<Scope> scopes(Collection<Role> roles) {
        Set<Scope> all = EnumSet.noneOf(Scope.class);
        roles.forEach(role -> all.addAll(role.scopes));
        return all;
    }
}
