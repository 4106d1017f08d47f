package io.keelson.server.tenant.audit;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Actions of operators and administrators: written in the action's transaction, never changed. */
public final class AuditLog {

    private static final String INSERT = """
            insert into operator_audit (actor, actor_kind, key_id, from_address, action, workspace_id, subject, detail)
            values (?, ?, ?, ?, ?, ?, ?, ?::jsonb)""";

    private static final String LIST = """
            select id, at, actor, actor_kind, key_id, from_address, action, workspace_id, subject, detail::text as detail
              from operator_audit
             where (?::uuid is null or workspace_id = ?) and (?::bigint is null or id < ?)
             order by id desc
             limit ?""";

    /**
     * @param at when, by the database's clock
     * @param actor the principal's name; {@code system} for the server itself
     * @param workspaceId the one acted upon
     * @param subject the id of what was acted upon
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
        try (PreparedStatement insert = c.prepareStatement(INSERT)) {
            insert.setString(1, origin.name());
            insert.setString(2, origin.kind());
            insert.setObject(3, origin.keyId());
            insert.setString(4, origin.address());
            insert.setString(5, action);
            insert.setObject(6, workspaceId);
            insert.setString(7, subject);
            insert.setString(8, detail.toString());
            insert.executeUpdate();
        }
    }

    /**
     * Newest first.
     *
     * @param workspaceId what was done to this one; null for all
     * @param before entries older than this one; null to begin with the newest
     */
    public Page<Entry> list(@Nullable UUID workspaceId, @Nullable Long before, int limit) {
        return database.withConnection(c -> {
            try (PreparedStatement list = c.prepareStatement(LIST)) {
                list.setObject(1, workspaceId);
                list.setObject(2, workspaceId);
                list.setObject(3, before);
                list.setObject(4, before);
                list.setInt(5, limit + 1);
                return Rows.page(list, limit, AuditLog::entry);
            }
        });
    }

    private static Entry entry(ResultSet row) throws SQLException {
        return new Entry(row.getLong("id"), row.getObject("at", OffsetDateTime.class).toInstant(),
                row.getString("actor"), row.getString("actor_kind"), row.getObject("key_id", UUID.class),
                row.getString("from_address"), row.getString("action"), row.getObject("workspace_id", UUID.class),
                row.getString("subject"), row.getString("detail"));
    }
}
