package io.keelson.server;

import io.keelson.server.auth.Bootstrap;
import io.keelson.server.tool.RefusedPlaces;
import io.keelson.server.tool.ToolPolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Which folders the tools of a server may read for a workspace, and what they never read. */
final class ToolFolders {

    /** Key files by themselves: a hard link to one is the same file under another path. */
    private static final List<String> KEYS = List.of("api-key", "secret-key", "postgres.secret");

    private ToolFolders() {}

    static ToolPolicy policy(Settings settings) {
        List<Path> refused = new ArrayList<>(settings.folders().keyFiles());
        refused.add(settings.dataDir());
        KEYS.forEach(key -> refused.add(settings.dataDir().resolve(key)));
        return new ToolPolicy(workspace -> of(settings.folders(), workspace), new RefusedPlaces(refused),
                settings.allowedCommands(), settings.allowPrivateAddresses());
    }

    private static List<Path> of(Settings.Folders folders, UUID workspace) {
        List<Path> all = new ArrayList<>(folders.allowed());
        if (workspace.equals(Bootstrap.DEFAULT_WORKSPACE)) {
            all.addAll(folders.ofUser());
        }
        return all;
    }
}
