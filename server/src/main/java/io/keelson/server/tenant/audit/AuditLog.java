package io.keelson.server.tenant.audit;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Actions of operators and administrators: written in the action's transaction, never changed. */
public final class AuditLog {

    private static final Sql INSERT = Sql.of("""
            insert into operator_audit (actor, actor_kind, key_id, from_address, action, workspace_id, subject, detail)
            values (:actor, :actor_kind, :key_id, :from_address, :action, :workspace_id, :subject, :detail::jsonb)""");

    private static final Sql LIST = Sql.of("""
            select id, at, actor, actor_kind, key_id, from_address, action, workspace_id, subject, detail::text as detail
              from operator_audit
             where (:workspace_id::uuid is null or workspace_id = :workspace_id) and (:before::bigint is null or id < :before)
             order by id desc
             limit :limit""");

    /**
     * @param at time by the database's clock
     * @param actor the principal's name; {@code system} for the server itself
     * @param workspaceId the changed workspace
     * @param subject the id of the changed object
     * @param detail JSON
     */
    public record Entry(long id, Instant at, String actor, String actorKind, @Nullable UUID keyId,
            @Nullable String fromAddress, String action, @Nullable UUID workspaceId, @Nullable String subject,
            String detail) {}

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
    public Page<Entry> list(@Nullable UUID workspaceId, @Nullable Long before, int limit) {
        return database.withConnection(
                c -> LIST.on(c).set("workspace_id", workspaceId).set("before", before).page(limit, AuditLog::entry));
    }

    private static Entry entry(ResultSet row) throws SQLException {
        return new Entry(row.getLong("id"), Rows.time(row, "at"),
                row.getString("actor"), row.getString("actor_kind"), row.getObject("key_id", UUID.class),
                row.getString("from_address"), row.getString("action"), row.getObject("workspace_id", UUID.class),
                row.getString("subject"), row.getString("detail"));
    }
}
