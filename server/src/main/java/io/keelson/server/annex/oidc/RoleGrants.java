package io.keelson.server.annex.oidc;

import io.keelson.server.tenant.auth.Role;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The roles of groups, or of subjects, in workspaces: {@code GROUP=WORKSPACE:ROLE}, with {@code *} for every workspace.
 *
 * @param grants in the order of the setting
 */
public record RoleGrants(List<Grant> grants) {

    /** Instead of a workspace. */
    public static final String EVERY_WORKSPACE = "*";

    /**
     * One role.
     *
     * @param holder group or subject
     * @param workspace its name, or {@link #EVERY_WORKSPACE}
     */
    public record Grant(String holder, String workspace, Role role) {

        /** Reads one; a holder may have {@code =} and {@code :}. Empty if the text has another form. */
        public static Optional<Grant> parse(String text) {
            int equals = text.lastIndexOf('=');
            int colon = text.lastIndexOf(':');
            if (equals <= 0 || colon <= equals + 1) {
                return Optional.empty();
            }
            return Role.of(text.substring(colon + 1).strip()).map(role -> new Grant(text.substring(0, equals).strip(),
                    text.substring(equals + 1, colon).strip(), role));
        }
    }

    public RoleGrants {
        grants = List.copyOf(grants);
    }

    /** Names of workspaces in which one of the holders has a role. */
    Set<String> workspaces(Collection<String> holders) {
        Set<String> names = new TreeSet<>();
        of(holders).forEach(grant -> names.add(grant.workspace));
        return names;
    }

    /** The roles of holders in a workspace. The set may be empty. */
    Set<Role> roles(Collection<String> holders, String workspace) {
        Set<Role> roles = EnumSet.noneOf(Role.class);
        of(holders).stream()
                .filter(grant -> grant.workspace.equals(workspace) || grant.workspace.equals(EVERY_WORKSPACE))
                .forEach(grant -> roles.add(grant.role));
        return roles;
    }

    private List<Grant> of(Collection<String> holders) {
        return grants.stream().filter(grant -> holders.contains(grant.holder)).toList();
    }
}
