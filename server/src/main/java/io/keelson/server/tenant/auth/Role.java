package io.keelson.server.tenant.auth;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The scopes of people and services whom an identity provider vouches for. Roles of one subject add up. */
public enum Role {
    VIEWER, OPERATOR, APPROVER, ADMIN,
    /** For services. An agent with {@code approve} could approve its own work. */
    WORKER;

    /** As settings have it. */
    public String wire() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<Role> of(String wire) {
        return Arrays.stream(values()).filter(role -> role.wire().equals(wire)).findFirst();
    }

    private Set<Scope> scopes() {
        return switch (this) {
            case VIEWER -> EnumSet.of(Scope.RUNS_READ, Scope.CREDITS_READ);
            case OPERATOR -> EnumSet.of(Scope.RUNS_READ, Scope.CREDITS_READ, Scope.RUNS_WRITE);
            case APPROVER -> EnumSet.of(Scope.RUNS_READ, Scope.CREDITS_READ, Scope.APPROVE);
            case ADMIN -> EnumSet.of(Scope.RUNS_READ, Scope.CREDITS_READ, Scope.RUNS_WRITE, Scope.APPROVE,
                    Scope.CREDITS_GRANT, Scope.ADMIN);
            case WORKER -> EnumSet.of(Scope.WORK, Scope.RUNS_READ);
        };
    }

    /** The scopes of all of the roles together. */
    public static Set<Scope> scopes(Collection<Role> roles) {
        Set<Scope> all = EnumSet.noneOf(Scope.class);
        roles.forEach(role -> all.addAll(role.scopes()));
        return all;
    }
}
