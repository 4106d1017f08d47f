package io.keelson.server.tenant.workspace;

import java.util.Set;
import java.util.UUID;

/** The workspaces of a setting, which names them. Thread-safe. */
public final class NamedWorkspaces {

    /** In place of the name of a workspace. */
    private static final String ALL = "*";

    private final WorkspaceStore workspaces;
    private final Set<String> names;

    /** @param names of workspaces, or {@code *} for all */
    public NamedWorkspaces(WorkspaceStore workspaces, Set<String> names) {
        this.workspaces = workspaces;
        this.names = Set.copyOf(names);
    }

    /** Whether the setting names the workspace. */
    public boolean contains(UUID workspace) {
        return names.contains(ALL) || !names.isEmpty()
                && workspaces.find(workspace).map(WorkspaceRow::name).filter(names::contains).isPresent();
    }
}
