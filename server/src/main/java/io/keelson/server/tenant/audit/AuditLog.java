package io.keelson.server.tenant.audit;

import io.keelson.api.tenant.AuditEntry;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Actions of operators and administrators: written in the action's transaction, never changed. */
public final class AuditLog {

    private static final Sql INSERT = Sql.of("""
            insert into operator_audit (actor, actor_kind, key_id, from_address, action, workspace_id, subject, detail)
            values (:actor, :actor_kind, :key_id, :from_address, :action, :workspace_id, :subject, :detail::jsonb)""");

    private static final Sql LIST = Sql.of("""
            select id, at as created_at, actor_kind as actor_type, actor as actor_id, key_id, from_address, action,
                workspace_id, subject, detail
              from operator_audit
             where (:workspace_id::uuid is null or workspace_id = :workspace_id) and (:before::bigint is null or id < :before)
             order by id desc
             limit :limit""");

    private final Database database;

    public AuditLog(Database database) {
        this.database = database;
    }

    /** Writes an entry in the transaction of the act. */
    public static void write(Connection c, AuditOrigin origin, String action, UUID workspaceId, String subject,
            ObjectNode detail) throws SQLException {
        INSERT.on(c).set("actor", origin.name()).set("actor_kind", origin.kind()).set("key_id", origin.keyId())
                .set("from_address", origin.address()).set("action", action).set("workspace_id", workspaceId)
                .set("subject", subject).set("detail", detail).update();
    }

    /**
     * Lists entries, newest first.
     *
     * @param workspaceId selects actions on this workspace; null for all
     * @param before entries older than this one; null to begin with the newest
     */
    public Page<AuditEntry> list(@Nullable UUID workspaceId, @Nullable Long before, int limit) {
        return database.withConnection(
                c -> LIST.on(c).set("workspace_id", workspaceId).set("before", before)
                        .page(limit, RecordColumns.of(AuditEntry.class)));
    }
}
