package io.keelson.server.tool;

import java.util.List;
import java.util.UUID;

/** Tools that workspaces have besides those of the server, which executors of servers run. Thread-safe. */
public interface WorkspaceTools {

    /** No workspace has any. */
    WorkspaceTools NONE = new WorkspaceTools() {
        @Override
        public ToolCatalog of(UUID workspace) {
            return ToolCatalog.EMPTY;
        }

        @Override
        public List<String> names() {
            return List.of();
        }

        @Override
        public void refresh() {}
    };

    /** The tools of a workspace. */
    ToolCatalog of(UUID workspace);

    /** The names of the tools of all workspaces. */
    List<String> names();

    /** Reads again what the database says of them. */
    void refresh();
}
