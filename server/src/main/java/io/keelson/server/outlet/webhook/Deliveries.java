package io.keelson.server.outlet.webhook;

import io.keelson.api.outlet.WebhookDelivery;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Manages {@code webhook_deliveries} for users. The given endpoints must exist in their workspace. */
public final class Deliveries {

    private static final int DELETION_BATCH_SIZE = 10_000;

    private static final Sql NOW = Sql.of("select clock_timestamp() as now");

    private static final Sql PING = Sql.of("""
            insert into webhook_deliveries (id, workspace_id, endpoint_id, position, type, body)
            values (:id, :workspace, :endpoint, :position, :type, :body)""");

    /**
     * Runs first, and locks the endpoint before deliveries, as the sender does. The wait after a failure ends, and a
     * sender in progress finds the new deliveries.
     */
    private static final Sql WAKE = Sql.of("""
            update webhook_endpoints set due_at = case when held_until is null or held_until < clock_timestamp()
                then clock_timestamp() else due_at end
             where workspace_id = :workspace and id = :id and enabled""");

    private static final Sql LIST = Sql.of("""
            select 'msg_' || id as id, event_id, type, state, attempts, last_status, last_error, created_at, attempted_at, completed_at
              from webhook_deliveries
             where workspace_id = :workspace and endpoint_id = :endpoint
               and (:state::text is null or state = :state)
               and (:created_at::timestamptz is null or (created_at, id) < (:created_at, :id))
             order by webhook_deliveries.created_at desc, webhook_deliveries.id desc limit :limit""");

    private static final Sql RETRY = Sql.of("""
            update webhook_deliveries set state = 'pending', attempts = 0, completed_at = null
             where workspace_id = :workspace and endpoint_id = :endpoint and id = :id""");

    private static final Sql RETRY_DEAD = Sql.of("""
            update webhook_deliveries set state = 'pending', attempts = 0, completed_at = null
             where workspace_id = :workspace and endpoint_id = :endpoint and state = 'dead'""");

    /** Reads no events; the fan-out does when it creates the deliveries. */
    private static final Sql REPLAY = Sql.of("""
            update webhook_endpoints set replay_after = :after, replay_to = :to, replay_since = :since,
                updated_at = clock_timestamp()
             where workspace_id = :workspace and id = :id""");

    private static final Sql FORGET = Sql.of("""
            delete from webhook_deliveries where id in (select id from webhook_deliveries
                where completed_at < clock_timestamp() - interval '30 days' order by completed_at limit :limit)""");

    /** Waiting deliveries of enabled endpoints; one row each. */
    private static final Sql WAITING = Sql.of("""
            select (select count(*) from (select from webhook_endpoints e
                      join webhook_deliveries d on d.endpoint_id = e.id and d.state = 'pending'
                     where e.enabled limit :limit) w) as pending,
                (select greatest(0, extract(epoch from clock_timestamp() - min(first.created_at)))
                   from webhook_endpoints e cross join lateral (
                     select d.created_at from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'pending'
                      order by d.position, d.id limit 1) first
                  where e.enabled and e.due_at is not null and e.quiet_from is null and e.digest_minutes = 0) as oldest,
                (select count(*) from webhook_endpoints where enabled and failing_since is not null) as failing""");

    /** Upper bound of counts. */
    public static final int MAX_COUNTED = 100_000;

    /**
     * Waiting deliveries of all enabled webhooks in the installation.
     *
     * @param oldestSeconds the longest wait of a next delivery, but for endpoints with quiet hours or digests; 0 without one
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
    public List<WebhookDelivery> list(UUID workspace, UUID endpoint, @Nullable String state, @Nullable Place after,
            int limit) {
        return database.withConnection(c -> LIST.on(c).set("workspace", workspace).set("endpoint", endpoint)
                .set("state", state).set("created_at", after == null ? null : after.createdAt())
                .set("id", after == null ? null : after.id()).set("limit", limit)
                .all(RecordColumns.of(WebhookDelivery.class)));
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
            PING.on(c).set("id", id).set("workspace", workspace).set("endpoint", endpoint).set("position", position)
                    .set("type", Topics.PING).set("body", body.toString()).update();
        });
    }

    /** Repeats a delivery under the same id; false for an unknown id. */
    public boolean again(UUID workspace, UUID endpoint, UUID delivery) {
        return database.inTransaction(c -> {
            wake(c, workspace, endpoint);
            return RETRY.on(c).set("workspace", workspace).set("endpoint", endpoint).set("id", delivery).update() > 0;
        });
    }

    /** Repeats all dead deliveries. */
    public void deadAgain(UUID workspace, UUID endpoint) {
        database.runInTransaction(c -> {
            wake(c, workspace, endpoint);
            RETRY_DEAD.on(c).set("workspace", workspace).set("endpoint", endpoint).update();
        });
    }

    /** Repeats all events since then, including those from before the endpoint existed or while it was disabled. */
    public void replay(UUID workspace, UUID endpoint, Instant since, AuditOrigin origin) {
        long from = Tenancy.allWorkspaces(() -> database.withConnection(c -> FeedReader.before(c, since)));
        long to = lastId();
        database.runInTransaction(c -> {
            REPLAY.on(c).set("after", Math.min(from, to)).set("to", to).set("since", since).set("workspace", workspace)
                    .set("id", endpoint).update();
            wake(c, workspace, endpoint);
            AuditLog.write(c, origin, "webhook_replayed", workspace, endpoint.toString(),
                    JsonNodeFactory.instance.objectNode().put("from", since.toString()));
        });
    }

    /** The waiting deliveries of all workspaces. */
    public static Waiting waiting(Connection c) throws SQLException {
        return WAITING.on(c).set("limit", MAX_COUNTED)
                .one(row -> new Waiting(row.getLong("pending"), row.getDouble("oldest"), row.getLong("failing")));
    }

    /** Deletes deliveries that ended 30 days ago. */
    void forget() {
        database.runInTransaction(c -> {
            FORGET.on(c).set("limit", DELETION_BATCH_SIZE).update();
        });
    }

    private static String now(Connection c) throws SQLException {
        return NOW.on(c).one(row -> Rows.time(row, "now")).truncatedTo(ChronoUnit.MILLIS).toString();
    }

    private long lastId() {
        return Tenancy.allWorkspaces(() -> database.withConnection(FeedReader::lastId));
    }

    private static void wake(Connection c, UUID workspace, UUID endpoint) throws SQLException {
        WAKE.on(c).set("workspace", workspace).set("id", endpoint).update();
    }

    /** The id of the delivery of an event to an endpoint. */
    static UUID idOf(UUID endpoint, long event) {
        return UUID.nameUUIDFromBytes((endpoint + "/" + event).getBytes(StandardCharsets.UTF_8));
    }

    /** The id in the header {@code webhook-id}. */
    public static String wire(UUID id) {
        return "msg_" + id;
    }
}
