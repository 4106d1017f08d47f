package io.keelson.server.tenant.workspace;

import io.keelson.server.base.db.Database;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.JsonNodeFactory;

/** Deletes the data of closed workspaces on an operator's request, in portions; ledger and audit log stay. */
public final class WorkspacePurge {

    private static final String ASK = """
            update workspaces set purge_asked_at = clock_timestamp()
             where id = ? and closed_at is not null and purge_asked_at is null""";

    private static final String ASKED = """
            select id from workspaces where purge_asked_at is not null and purged_at is null order by purge_asked_at""";

    /** Skips a workspace that another node is purging. */
    private static final String MINE = """
            select id from workspaces where id = ? and purge_asked_at is not null and purged_at is null
               for no key update skip locked""";

    private static final String PORTION = "select keelson_purge_workspace(?, ?)";

    private static final String COUNT = "update workspaces set purged_rows = purged_rows + ? where id = ?";

    /** Not while a node may still admit a key by its cache. */
    private static final String DONE = """
            update workspaces set purged_at = clock_timestamp()
             where id = ? and closed_at < clock_timestamp() - interval '15 seconds'""";

    private final Database database;

    public WorkspacePurge(Database database) {
        this.database = database;
    }

    /** Requests the removal of a closed workspace's content; a repetition changes nothing. */
    public void request(UUID workspace, AuditOrigin origin) {
        database.runInTransaction(c -> {
            if (update(c, ASK, workspace) == 1) {
                AuditLog.write(c, origin, "workspace_deleted", workspace, workspace.toString(),
                        JsonNodeFactory.instance.objectNode());
            }
        });
    }

    /** Workspaces that have not been emptied yet. */
    public List<UUID> requested() {
        return database.withConnection(c -> {
            try (PreparedStatement s = c.prepareStatement(ASKED); ResultSet row = s.executeQuery()) {
                List<UUID> found = new ArrayList<>();
                while (row.next()) {
                    found.add(row.getObject(1, UUID.class));
                }
                return found;
            }
        });
    }

    /** Deletes about that many rows; false when nothing is left or another node is purging it. */
    public boolean portion(UUID workspace, int most) {
        return database.inTransaction(c -> {
            if (!mine(c, workspace)) {
                return false;
            }
            int gone;
            try (PreparedStatement s = c.prepareStatement(PORTION)) {
                s.setObject(1, workspace);
                s.setInt(2, most);
                try (ResultSet row = s.executeQuery()) {
                    row.next();
                    gone = row.getInt(1);
                }
            }
            if (gone == 0) {
                update(c, DONE, workspace);
            } else {
                update(c, COUNT, gone, workspace);
            }
            return gone > 0;
        });
    }

    private static boolean mine(Connection c, UUID workspace) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(MINE)) {
            s.setObject(1, workspace);
            try (ResultSet row = s.executeQuery()) {
                return row.next();
            }
        }
    }

    private static int update(Connection c, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                s.setObject(i + 1, parameters[i]);
            }
            return s.executeUpdate();
        }
    }
}
