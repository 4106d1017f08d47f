package io.keelson.server.outlet.webhook;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.secret.SecretStore;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** Manages {@code webhook_endpoints} for users. */
public final class Endpoints {

    /** Maximum endpoints of one workspace. */
    public static final int MAX_ENDPOINTS = 50;

    private static final String COLUMNS =
            """
            id, workspace_id, url, description, events, channel, enabled, disabled_reason, failing_since,
                last_error, replay_after is not null as replaying,
                case when previous_until > clock_timestamp() then previous_until end as previous_until,
                created_at, updated_at,
                (select count(*) from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'pending') as pending""";

    /** Serialises creations in a workspace, so that its endpoints can be counted. */
    private static final String TURN = "select pg_advisory_xact_lock(hashtextextended('keelson webhooks ' || ?, 0))";

    private static final String COUNT = "select count(*) from webhook_endpoints where workspace_id = ?";

    private static final String CREATE = """
            insert into webhook_endpoints (id, workspace_id, url, description, events, channel, enabled,
                disabled_reason, key_id, sealed, from_id)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""";

    private static final String LIST = "select " + COLUMNS
            + " from webhook_endpoints e where workspace_id = ? order by created_at, id";

    private static final String ONE =
            "select " + COLUMNS + " from webhook_endpoints e where workspace_id = ? and id = ?";

    private static final String LOCK =
            "select from webhook_endpoints where workspace_id = ? and id = ? for update";

    /** When enabled again, it continues with waiting deliveries and new events. */
    private static final String CHANGE = """
            update webhook_endpoints e set url = coalesce(?, url),
                description = case when ? then null else coalesce(?, description) end,
                events = coalesce(?::text[], events),
                channel = case when ? then null else coalesce(?, channel) end,
                from_id = case when wish.enabled and not e.enabled then ? else from_id end,
                due_at = case when wish.enabled and not e.enabled then clock_timestamp()
                    when not wish.enabled then null else due_at end,
                failing_since = case when wish.enabled and not e.enabled then null else failing_since end,
                last_error = case when wish.enabled and not e.enabled then null else last_error end,
                enabled = coalesce(wish.enabled, e.enabled),
                disabled_reason = case when not coalesce(wish.enabled, e.enabled)
                    then coalesce(disabled_reason, 'asked') end,
                updated_at = clock_timestamp()
              from (select ?::boolean as enabled) wish
             where e.workspace_id = ? and e.id = ?""";

    private static final String ROTATE = """
            update webhook_endpoints set previous_key_id = key_id, previous = sealed,
                previous_until = clock_timestamp() + interval '24 hours', key_id = ?, sealed = ?,
                updated_at = clock_timestamp()
             where workspace_id = ? and id = ?""";

    private static final String DELETE = "delete from webhook_endpoints where workspace_id = ? and id = ?";

    private static final String FOREIGN = """
            select id, key_id, sealed, previous_key_id, previous from webhook_endpoints
             where key_id <> ? or previous_key_id <> ? order by id for no key update""";

    private static final String RESEAL = """
            update webhook_endpoints set key_id = ?, sealed = ?, previous_key_id = ?, previous = ? where id = ?""";

    private final Database database;
    private final EndpointSecrets endpointSecrets;

    public Endpoints(Database database, SecretStore secrets) {
        this.database = database;
        this.endpointSecrets = new EndpointSecrets(secrets);
    }

    /**
     * Creates an endpoint, which receives events from now on. Empty where the workspace has {@link #MAX_ENDPOINTS}.
     *
     * @param spec with url and events
     */
    public Optional<Endpoint.WithSecret> create(UUID workspace, UUID id, Endpoint.Spec spec, AuditOrigin origin) {
        SigningSecret secret = SigningSecret.fresh();
        long from = lastId();
        return database.inTransaction(c -> {
            if (full(c, workspace)) {
                return Optional.empty();
            }
            insert(c, workspace, id, spec, endpointSecrets.seal(id, secret), from);
            audit(c, origin, "webhook_created", workspace, id);
            return find(c, workspace, id).map(made -> new Endpoint.WithSecret(made, secret.text()));
        });
    }

    private static boolean full(Connection c, UUID workspace) throws SQLException {
        try (PreparedStatement turn = c.prepareStatement(TURN)) {
            turn.setString(1, workspace.toString());
            turn.execute();
        }
        try (PreparedStatement count = c.prepareStatement(COUNT)) {
            count.setObject(1, workspace);
            try (ResultSet row = count.executeQuery()) {
                return row.next() && row.getLong(1) >= MAX_ENDPOINTS;
            }
        }
    }

    private static void insert(Connection c, UUID workspace, UUID id, Endpoint.Spec spec, SecretStore.Sealed sealed,
            long from) throws SQLException {
        boolean enabled = spec.enabled() == null || spec.enabled();
        try (PreparedStatement statement = c.prepareStatement(CREATE)) {
            statement.setObject(1, id);
            statement.setObject(2, workspace);
            statement.setString(3, spec.url());
            statement.setString(4, spec.description());
            statement.setArray(5, texts(c, spec.events()));
            statement.setString(6, spec.channel());
            statement.setBoolean(7, enabled);
            statement.setString(8, enabled ? null : "asked");
            statement.setString(9, sealed.keyId());
            statement.setBytes(10, sealed.bytes());
            statement.setLong(11, from);
            statement.executeUpdate();
        }
    }

    /** The workspace's endpoints, oldest first. */
    public List<Endpoint> list(UUID workspace) {
        return database.withConnection(c -> {
            try (PreparedStatement statement = c.prepareStatement(LIST)) {
                statement.setObject(1, workspace);
                return endpoints(statement);
            }
        });
    }

    public Optional<Endpoint> find(UUID workspace, UUID id) {
        return database.withConnection(c -> find(c, workspace, id));
    }

    /**
     * Empty for an unknown id.
     *
     * @param check sees the locked endpoint; an exception leaves the endpoint unchanged
     */
    public Optional<Endpoint> change(UUID workspace, UUID id, Endpoint.Spec spec, AuditOrigin origin,
            Consumer<Endpoint> check) {
        long from = lastId();
        return database.inTransaction(c -> {
            try (PreparedStatement lock = c.prepareStatement(LOCK)) {
                lock.setObject(1, workspace);
                lock.setObject(2, id);
                lock.execute();
            }
            find(c, workspace, id).ifPresent(check);
            try (PreparedStatement statement = c.prepareStatement(CHANGE)) {
                statement.setString(1, spec.url());
                statement.setBoolean(2, spec.noDescription());
                statement.setString(3, spec.description());
                statement.setArray(4, texts(c, spec.events()));
                statement.setBoolean(5, spec.noChannel());
                statement.setString(6, spec.channel());
                statement.setLong(7, from);
                statement.setObject(8, spec.enabled());
                statement.setObject(9, workspace);
                statement.setObject(10, id);
                if (statement.executeUpdate() > 0) {
                    audit(c, origin, "webhook_changed", workspace, id);
                }
            }
            return find(c, workspace, id);
        });
    }

    /** Creates a new secret; for a day deliveries have signatures by both secrets. Empty for an unknown id. */
    public Optional<Endpoint.WithSecret> rotate(UUID workspace, UUID id, AuditOrigin origin) {
        SigningSecret secret = SigningSecret.fresh();
        SecretStore.Sealed sealed = endpointSecrets.seal(id, secret);
        return database.inTransaction(c -> {
            try (PreparedStatement statement = c.prepareStatement(ROTATE)) {
                statement.setString(1, sealed.keyId());
                statement.setBytes(2, sealed.bytes());
                statement.setObject(3, workspace);
                statement.setObject(4, id);
                if (statement.executeUpdate() > 0) {
                    audit(c, origin, "webhook_secret_rotated", workspace, id);
                }
            }
            return find(c, workspace, id).map(found -> new Endpoint.WithSecret(found, secret.text()));
        });
    }

    /** Deletes an endpoint with its deliveries; false for an unknown id. */
    public boolean delete(UUID workspace, UUID id, AuditOrigin origin) {
        return database.inTransaction(c -> {
            try (PreparedStatement statement = c.prepareStatement(DELETE)) {
                statement.setObject(1, workspace);
                statement.setObject(2, id);
                if (statement.executeUpdate() == 0) {
                    return false;
                }
            }
            audit(c, origin, "webhook_deleted", workspace, id);
            return true;
        });
    }

    /** Re-encrypts secrets under the current key if their old key is known. */
    public void reseal() {
        database.runInTransaction(c -> {
            try (PreparedStatement foreign = c.prepareStatement(FOREIGN);
                    PreparedStatement update = c.prepareStatement(RESEAL)) {
                foreign.setString(1, endpointSecrets.secrets().keyId());
                foreign.setString(2, endpointSecrets.secrets().keyId());
                try (ResultSet row = foreign.executeQuery()) {
                    while (row.next()) {
                        UUID id = row.getObject("id", UUID.class);
                        SecretStore.Sealed now = endpointSecrets.reencrypted(id, sealed(row, "key_id", "sealed"));
                        boolean previous = row.getBytes("previous") != null;
                        SecretStore.Sealed before =
                                previous ? endpointSecrets.reencrypted(id, sealed(row, "previous_key_id", "previous"))
                                        : null;
                        update.setString(1, now.keyId());
                        update.setBytes(2, now.bytes());
                        update.setString(3, before == null ? null : before.keyId());
                        update.setBytes(4, before == null ? null : before.bytes());
                        update.setObject(5, id);
                        update.executeUpdate();
                    }
                }
            }
        });
    }

    static SecretStore.Sealed sealed(ResultSet row, String keyId, String bytes) throws SQLException {
        return new SecretStore.Sealed(row.getString(keyId), row.getBytes(bytes));
    }

    EndpointSecrets seals() {
        return endpointSecrets;
    }

    private long lastId() {
        return Tenancy.allWorkspaces(() -> database.withConnection(FeedReader::lastId));
    }

    private static void audit(Connection c, AuditOrigin origin, String action, UUID workspace, UUID id)
            throws SQLException {
        AuditLog.write(c, origin, action, workspace, id.toString(), JsonNodeFactory.instance.objectNode());
    }

    private static @Nullable Array texts(Connection c, @Nullable List<String> texts) throws SQLException {
        return texts == null ? null : c.createArrayOf("text", texts.toArray());
    }

    private static Optional<Endpoint> find(Connection c, UUID workspace, UUID id) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ONE)) {
            statement.setObject(1, workspace);
            statement.setObject(2, id);
            return endpoints(statement).stream().findFirst();
        }
    }

    private static List<Endpoint> endpoints(PreparedStatement statement) throws SQLException {
        List<Endpoint> found = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(new Endpoint(row.getObject("id", UUID.class), row.getObject("workspace_id", UUID.class),
                        row.getString("url"), row.getString("description"),
                        List.of((String[]) row.getArray("events").getArray()), row.getString("channel"),
                        row.getBoolean("enabled"), row.getString("disabled_reason"),
                        Rows.optionalTime(row, "failing_since"), row.getString("last_error"), row.getLong("pending"),
                        row.getBoolean("replaying"), Rows.optionalTime(row, "previous_until"),
                        Rows.time(row, "created_at"), Rows.time(row, "updated_at")));
            }
        }
        return found;
    }
}
