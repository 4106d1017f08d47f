package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Pin;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;

/** {@code run_tool_versions}: versions of workers that runs stay with. */
final class RunVersionsTable {
    static final RowSetStatement<Pin> INSERT = new RowSetStatement<>("keelson_run_pin", """
            insert into run_tool_versions (run_id, tool, workspace_id, version)
            select run_id, tool, workspace_id, version from {rows}""",
            uuid("run_id", pin -> pin.run().id()), text("tool", Pin::tool),
            uuid("workspace_id", pin -> pin.run().workspaceId()), text("version", Pin::version));

    private static final String LOAD = "select run_id, tool, version from run_tool_versions where run_id = any (?)";

    private RunVersionsTable() {}

    /** Queries only runs that have any. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.pinned.isEmpty()) {
            ViewLoader.each(c, LOAD, loader.pinned,
                    row -> loader.view(row).pin(row.getString("tool"), row.getString("version")));
        }
    }
}
