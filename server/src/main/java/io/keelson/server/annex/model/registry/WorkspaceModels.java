package io.keelson.server.annex.model.registry;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** The models that a workspace may use: those that its operator allows, configured here or called by workers. */
public final class WorkspaceModels {

    private final Models models;
    private final Function<UUID, Optional<List<String>>> allowed;

    /** @param allowed the names that a workspace may use; empty for all */
    public WorkspaceModels(Models models, Function<UUID, Optional<List<String>>> allowed) {
        this.models = models;
        this.allowed = allowed;
    }

    /** The models that this server is configured to call, whether a workspace may use them or not. */
    public Models configured() {
        return models;
    }

    /** The names that the workspace may use; empty for all. Read from the database. */
    public Optional<List<String>> allowed(UUID workspace) {
        return allowed.apply(workspace);
    }

    /** Whether the workspace may use the model of that name now. */
    public boolean allows(UUID workspace, String name) {
        return allowed(workspace).map(names -> names.contains(name)).orElse(true);
    }
}
