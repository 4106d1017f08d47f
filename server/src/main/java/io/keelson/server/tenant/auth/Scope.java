package io.keelson.server.tenant.auth;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A permission of an API key. Each route requires one; none includes another. */
public enum Scope {
    RUNS_READ("runs:read", "read runs and what belongs to them, tools, workers and lifecycles"),
    RUNS_WRITE("runs:write", "create runs and change their course"),
    APPROVE("approve", "decide what waits for a person"), WORK("work", "claim steps, keep their leases and report"),
    CREDITS_READ("credits:read", "read balances, ledger, usage and prices"),
    CREDITS_GRANT("credits:grant", "grant credits and correct the ledger"),
    ADMIN("admin", "look after the workspace: its keys, secrets and workers"),
    OPERATOR("operator", "look after the installation: workspaces, limits, prices, audit log; first workspace only");

    private final String wire;
    private final String meaning;

    Scope(String wire, String meaning) {
        this.wire = wire;
        this.meaning = meaning;
    }

    /** As keys and documents bear it. */
    public String wire() {
        return wire;
    }

    /** For people. */
    public String meaning() {
        return meaning;
    }

    /** All that a key of this workspace can have. */
    public static Set<Scope> all(boolean firstWorkspace) {
        return firstWorkspace ? EnumSet.allOf(Scope.class) : EnumSet.complementOf(EnumSet.of(OPERATOR));
    }

    public static Optional<Scope> of(String wire) {
        return Arrays.stream(values()).filter(scope -> scope.wire.equals(wire)).findFirst();
    }

    /** These scopes as texts, in the order of the constants. */
    public static List<String> words(Collection<Scope> scopes) {
        return scopes.stream().sorted().map(Scope::wire).toList();
    }

    /** All of them as texts. */
    public static List<String> words() {
        return Arrays.stream(values()).map(Scope::wire).toList();
    }
}
