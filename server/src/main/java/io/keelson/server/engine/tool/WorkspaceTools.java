package io.keelson.server.engine.tool;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Workspaces' own tools, in addition to the server's, which executors of servers run. Thread-safe. */
public interface WorkspaceTools {

    /**
     * The server that a tool is from.
     *
     * @param server its name within the workspace
     * @param state of the tool, as {@code accepted}
     * @param trusted whether the workspace trusts the server's descriptions
     */
    record Origin(String server, String state, boolean trusted) {}

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
        public @Nullable String unusable(UUID workspace, String name) {
            return null;
        }

        @Override
        public @Nullable Origin origin(UUID workspace, String name) {
            return null;
        }

        @Override
        public void refresh(Connection c) {}
    };

    /** The tools of a workspace. */
    ToolCatalog of(UUID workspace);

    /** The names of the tools of all workspaces. */
    List<String> names();

    /**
     * Why calls of a tool of that name fail, with the command that changes it.
     *
     * @return null where they do not, and where the name is of no such tool
     */
    @Nullable String unusable(UUID workspace, String name);

    /**
     * The origin of a tool.
     *
     * @return null if the name is of no such tool of the workspace
     */
    @Nullable Origin origin(UUID workspace, String name);

    /** Reads the workspaces' tools again, on a connection that sees all workspaces. */
    void refresh(Connection c) throws SQLException;
}
