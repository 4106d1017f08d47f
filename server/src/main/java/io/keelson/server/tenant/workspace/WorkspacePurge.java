package io.keelson.server.tenant.workspace;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Sql;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.JsonNodeFactory;

/** Deletes the data of closed workspaces on an operator's request, in portions; ledger and audit log stay. */
public final class WorkspacePurge {

    private static final Sql ASK = Sql.of("""
            update workspaces set purge_asked_at = clock_timestamp()
             where id = :id and closed_at is not null and purge_asked_at is null""");

    private static final Sql ASKED =
            Sql.of("""
            select id from workspaces where purge_asked_at is not null and purged_at is null order by purge_asked_at""");

    /** Skips a workspace that another node is purging. */
    private static final Sql MINE = Sql.of("""
            select id from workspaces where id = :id and purge_asked_at is not null and purged_at is null
               for no key update skip locked""");

    private static final Sql PORTION = Sql.of("select keelson_purge_workspace(:id, :most) as gone");

    private static final Sql COUNT = Sql.of("update workspaces set purged_rows = purged_rows + :gone where id = :id");

    /** Not while a node may still admit a key by its cache. */
    private static final Sql DONE = Sql.of("""
            update workspaces set purged_at = clock_timestamp()
             where id = :id and closed_at < clock_timestamp() - interval '15 seconds'""");

    private final Database database;

    public WorkspacePurge(Database database) {
        this.database = database;
    }

    /** Requests the removal of a closed workspace's content; a repetition changes nothing. */
    public void request(UUID workspace, AuditOrigin origin) {
        database.runInTransaction(c -> {
            if (ASK.on(c).set("id", workspace).update() == 1) {
                AuditLog.write(c, origin, "workspace_deleted", workspace, workspace.toString(),
                        JsonNodeFactory.instance.objectNode());
            }
        });
    }

    /** Workspaces that have not been emptied yet. */
    public List<UUID> requested() {
        return database.withConnection(c -> ASKED.on(c).all(row -> row.getObject("id", UUID.class)));
    }

    /** Deletes about that many rows; false when nothing is left or another node is purging it. */
    public boolean portion(UUID workspace, int most) {
        return database.inTransaction(c -> {
            if (!mine(c, workspace)) {
                return false;
            }
            int gone = PORTION.on(c).set("id", workspace).set("most", most).one(row -> row.getInt("gone"));
            if (gone == 0) {
                DONE.on(c).set("id", workspace).update();
            } else {
                COUNT.on(c).set("gone", gone).set("id", workspace).update();
            }
            return gone > 0;
        });
    }

    private static boolean mine(Connection c, UUID workspace) throws SQLException {
        return MINE.on(c).set("id", workspace).exists();
    }
}
