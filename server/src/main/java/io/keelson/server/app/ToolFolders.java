package io.keelson.server.app;

import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.RefusedPlaces;
import io.keelson.server.engine.tool.ToolPolicy;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The folders that a server's tools may read for a workspace, and the paths that they never read. */
final class ToolFolders {

    /** Key files by themselves: a hard link to one is the same file under another path. */
    private static final List<String> KEYS = List.of("api-key", "secret-key", "postgres.secret");

    private ToolFolders() {}

    /** @param keyFiles of models: files that no tool reads */
    static ToolPolicy policy(Settings settings, List<Path> keyFiles, WorkspaceStore workspaces) {
        List<Path> refused = new ArrayList<>(settings.tools().folders().keyFiles());
        refused.addAll(keyFiles);
        refused.add(settings.dataDir());
        KEYS.forEach(key -> refused.add(settings.dataDir().resolve(key)));
        return new ToolPolicy(workspace -> of(settings.tools().folders(), own(workspaces, workspace), workspace),
                new RefusedPlaces(refused), settings.tools().programs(), settings.tools().privateAddresses());
    }

    private static Optional<List<Path>> own(WorkspaceStore workspaces, UUID workspace) {
        try {
            return workspaces.folders(workspace).map(own -> own.stream().map(Path::of).toList());
        } catch (SqlFailure e) {
            if (e.unavailable()) {
                throw new HandBackException("the database is unavailable: " + e.getMessage(), e);
            }
            throw e;
        }
    }

    /** @param own folders that an operator gave the workspace, instead of the settings' folders */
    private static List<Path> of(Settings.Folders folders, Optional<List<Path>> own, UUID workspace) {
        List<Path> all = new ArrayList<>(own.orElse(folders.allowed()));
        if (workspace.equals(Bootstrap.DEFAULT_WORKSPACE)) {
            all.addAll(folders.ofUser());
        }
        return all;
    }
}
