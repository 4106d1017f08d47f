package io.keelson.server.outlet.webhook;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Manages {@code webhook_deliveries} for users. The given endpoints must exist in their workspace. */
public final class Deliveries {

    private static final int DELETION_BATCH_SIZE = 10_000;

    private static final String NOW = "select clock_timestamp() as now";

    private static final String PING = """
            insert into webhook_deliveries (id, workspace_id, endpoint_id, position, type, body)
            values (?, ?, ?, ?, ?, ?)""";

    /**
     * Runs first, and locks the endpoint before deliveries, as the sender does. The wait after a failure ends, and a
     * sender in progress finds the new deliveries.
     */
    private static final String WAKE = """
            update webhook_endpoints set due_at = case when held_until is null or held_until < clock_timestamp()
                then clock_timestamp() else due_at end
             where workspace_id = ? and id = ? and enabled""";

    private static final String LIST = """
            select id, event_id, type, state, attempts, last_status, last_error, created_at, attempted_at, completed_at
              from webhook_deliveries
             where workspace_id = ? and endpoint_id = ? and (?::text is null or state = ?)
               and (?::timestamptz is null or (created_at, id) < (?, ?))
             order by created_at desc, id desc limit ?""";

    private static final String RETRY = """
            update webhook_deliveries set state = 'pending', attempts = 0, completed_at = null
             where workspace_id = ? and endpoint_id = ? and id = ?""";

    private static final String RETRY_DEAD = """
            update webhook_deliveries set state = 'pending', attempts = 0, completed_at = null
             where workspace_id = ? and endpoint_id = ? and state = 'dead'""";

    /** Reads no events; the fan-out does when it creates the deliveries. */
    private static final String REPLAY = """
            update webhook_endpoints set replay_after = ?, replay_to = ?, replay_since = ?,
                updated_at = clock_timestamp()
             where workspace_id = ? and id = ?""";

    private static final String FORGET = """
            delete from webhook_deliveries where id in (select id from webhook_deliveries
                where completed_at < clock_timestamp() - interval '30 days' order by completed_at limit ?)""";

    /** Waiting deliveries of enabled endpoints; one row each. */
    private static final String WAITING = """
            select (select count(*) from (select from webhook_endpoints e
                      join webhook_deliveries d on d.endpoint_id = e.id and d.state = 'pending'
                     where e.enabled limit ?) w) as pending,
                (select greatest(0, extract(epoch from clock_timestamp() - min(first.created_at)))
                   from webhook_endpoints e cross join lateral (
                     select d.created_at from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'pending'
                      order by d.position, d.id limit 1) first
                  where e.enabled and e.due_at is not null) as oldest,
                (select count(*) from webhook_endpoints where enabled and failing_since is not null) as failing""";

    /** Upper bound of counts. */
    public static final int MAX_COUNTED = 100_000;

    /**
     * Waiting deliveries of all enabled webhooks in the installation.
     *
     * @param oldestSeconds the longest wait of a next delivery; 0 without one
     * @param failing webhooks at which the last attempt failed
     */
    public record Waiting(long pending, double oldestSeconds, long failing) {}

    /** The end of a page of the list. */
    public record Place(Instant createdAt, UUID id) {}

    private final Database database;

    public Deliveries(Database database) {
        this.database = database;
    }

    /**
     * Newest first.
     *
     * @param state null for all
     * @param after where to continue; null to begin with the newest
     */
    public List<Delivery> list(UUID workspace, UUID endpoint, @Nullable String state, @Nullable Place after,
            int limit) {
        return database.withConnection(c -> {
            try (PreparedStatement statement = c.prepareStatement(LIST)) {
                statement.setObject(1, workspace);
                statement.setObject(2, endpoint);
                statement.setString(3, state);
                statement.setString(4, state);
                statement.setObject(5, after == null ? null : after.createdAt().atOffset(ZoneOffset.UTC));
                statement.setObject(6, after == null ? null : after.createdAt().atOffset(ZoneOffset.UTC));
                statement.setObject(7, after == null ? null : after.id());
                statement.setInt(8, limit);
                return all(statement);
            }
        });
    }

    private static List<Delivery> all(PreparedStatement statement) throws SQLException {
        List<Delivery> found = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(new Delivery(row.getObject("id", UUID.class), row.getObject("event_id", Long.class),
                        row.getString("type"), row.getString("state"), row.getInt("attempts"),
                        row.getObject("last_status", Integer.class), row.getString("last_error"),
                        Rows.time(row, "created_at"), Rows.optionalTime(row, "attempted_at"),
                        Rows.optionalTime(row, "completed_at")));
            }
        }
        return found;
    }

    /**
     * Queues a test delivery behind waiting ones.
     *
     * @param id of the delivery
     */
    public void ping(UUID workspace, UUID endpoint, UUID id) {
        long position = lastId() + 1;
        database.runInTransaction(c -> {
            wake(c, workspace, endpoint);
            ObjectNode body = JsonNodeFactory.instance.objectNode().put("type", Topics.PING).put("timestamp", now(c));
            body.putObject("data").put("workspace_id", workspace.toString()).put("endpoint_id", endpoint.toString());
            try (PreparedStatement statement = c.prepareStatement(PING)) {
                statement.setObject(1, id);
                statement.setObject(2, workspace);
                statement.setObject(3, endpoint);
                statement.setLong(4, position);
                statement.setString(5, Topics.PING);
                statement.setString(6, body.toString());
                statement.executeUpdate();
            }
        });
    }

    /** Repeats a delivery under the same id; false for an unknown id. */
    public boolean again(UUID workspace, UUID endpoint, UUID delivery) {
        return database.inTransaction(c -> {
            wake(c, workspace, endpoint);
            try (PreparedStatement statement = c.prepareStatement(RETRY)) {
                statement.setObject(1, workspace);
                statement.setObject(2, endpoint);
                statement.setObject(3, delivery);
                return statement.executeUpdate() > 0;
            }
        });
    }

    /** Repeats all dead deliveries. */
    public void deadAgain(UUID workspace, UUID endpoint) {
        database.runInTransaction(c -> {
            wake(c, workspace, endpoint);
            try (PreparedStatement statement = c.prepareStatement(RETRY_DEAD)) {
                statement.setObject(1, workspace);
                statement.setObject(2, endpoint);
                statement.executeUpdate();
            }
        });
    }

    /** Repeats all events since then, including those from before the endpoint existed or while it was disabled. */
    public void replay(UUID workspace, UUID endpoint, Instant since, AuditOrigin origin) {
        long from = Tenancy.allWorkspaces(() -> database.withConnection(c -> FeedReader.before(c, since)));
        long to = lastId();
        database.runInTransaction(c -> {
            try (PreparedStatement statement = c.prepareStatement(REPLAY)) {
                statement.setLong(1, Math.min(from, to));
                statement.setLong(2, to);
                statement.setObject(3, since.atOffset(ZoneOffset.UTC));
                statement.setObject(4, workspace);
                statement.setObject(5, endpoint);
                statement.executeUpdate();
            }
            wake(c, workspace, endpoint);
            AuditLog.write(c, origin, "webhook_replayed", workspace, endpoint.toString(),
                    JsonNodeFactory.instance.objectNode().put("from", since.toString()));
        });
    }

    /** The waiting deliveries of all workspaces. */
    public static Waiting waiting(Connection c) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(WAITING)) {
            statement.setInt(1, MAX_COUNTED);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Waiting(row.getLong("pending"), row.getDouble("oldest"), row.getLong("failing"));
            }
        }
    }

    /** Deletes deliveries that ended 30 days ago. */
    void forget() {
        database.runInTransaction(c -> {
            try (PreparedStatement statement = c.prepareStatement(FORGET)) {
                statement.setInt(1, DELETION_BATCH_SIZE);
                statement.executeUpdate();
            }
        });
    }

    private static String now(Connection c) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(NOW); ResultSet row = statement.executeQuery()) {
            row.next();
            return Rows.time(row, "now").truncatedTo(ChronoUnit.MILLIS).toString();
        }
    }

    private long lastId() {
        return Tenancy.allWorkspaces(() -> database.withConnection(FeedReader::lastId));
    }

    private static void wake(Connection c, UUID workspace, UUID endpoint) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(WAKE)) {
            statement.setObject(1, workspace);
            statement.setObject(2, endpoint);
            statement.executeUpdate();
        }
    }
}
