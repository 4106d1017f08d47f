package io.keelson.server.outlet.webhook;

import io.keelson.api.outlet.Webhook;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.secret.SecretStore;
import java.net.URI;
import java.net.URISyntaxException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** Manages {@code webhook_endpoints} for users. */
public final class Endpoints {

    /** Maximum endpoints of one workspace. */
    public static final int MAX_ENDPOINTS = 50;

    /** Maximum endpoints that people of one workspace have added for themselves. */
    public static final int MAX_OWN = 500;

    /** Maximum endpoints that one person has added. */
    public static final int MAX_OF_PERSON = 5;

    private static final String COLUMNS =
            """
            id, workspace_id, url, format, description, events, channel, recipient, owner, quiet_from, quiet_until, time_zone,
                digest_minutes, enabled, disabled_reason, failing_since,
                last_error, replay_after is not null as replaying,
                case when previous_until > clock_timestamp() then previous_until end as previous_secret_until,
                created_at, updated_at,
                (select count(*) from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'pending') as pending,
                null::text as secret""";

    private static final RecordColumns<Webhook> WEBHOOK = RecordColumns.of(Webhook.class);

    /** Serialises creations in a workspace, so that its endpoints can be counted. */
    private static final Sql TURN =
            Sql.of("select pg_advisory_xact_lock(hashtextextended('keelson webhooks ' || :workspace, 0))");

    private static final Sql COUNT =
            Sql.of("""
            select count(*) filter (where owner is null) as shared, count(owner) as own,
                count(*) filter (where owner = :owner) as of_person
              from webhook_endpoints where workspace_id = :workspace""");

    private static final Sql CREATE = Sql.of("""
            insert into webhook_endpoints (id, workspace_id, url, format, description, events, channel, recipient, owner, quiet_from,
                quiet_until, time_zone, digest_minutes, enabled, disabled_reason, key_id, sealed, from_id)
            values (:id, :workspace, :url, :format, :description, :events, :channel, :recipient, :owner, :quiet_from,
                :quiet_until, :time_zone, :digest_minutes, :enabled, :disabled_reason, :key_id, :sealed, :from)""");

    private static final Sql LIST = Sql.of("select " + COLUMNS
            + " from webhook_endpoints e where workspace_id = :workspace order by created_at, id");

    private static final Sql ONE =
            Sql.of("select " + COLUMNS + " from webhook_endpoints e where workspace_id = :workspace and id = :id");

    private static final Sql LOCK =
            Sql.of("select from webhook_endpoints where workspace_id = :workspace and id = :id for update");

    /** When enabled again, it continues with waiting deliveries and new events. */
    private static final Sql CHANGE = Sql.of("""
            update webhook_endpoints e set url = coalesce(:url, url),
                description = case when :no_description then null else coalesce(:description, description) end,
                events = coalesce(:events::text[], events),
                channel = case when :no_channel then null else coalesce(:channel, channel) end,
                recipient = case when :no_recipient then null else coalesce(:recipient, recipient) end,
                quiet_from = case when :no_quiet_from then null else coalesce(:quiet_from, quiet_from) end,
                quiet_until = case when :no_quiet_until then null else coalesce(:quiet_until, quiet_until) end,
                time_zone = case when :no_time_zone then null else coalesce(:time_zone, time_zone) end,
                digest_minutes = coalesce(:digest_minutes, digest_minutes),
                from_id = case when wish.enabled and not e.enabled then :from else from_id end,
                due_at = case when wish.enabled and not e.enabled then clock_timestamp()
                    when not wish.enabled then null
                    when wish.other_times and held_until is null and due_at is not null then clock_timestamp()
                    else due_at end,
                failing_since = case when wish.enabled and not e.enabled then null else failing_since end,
                last_error = case when wish.enabled and not e.enabled then null else last_error end,
                enabled = coalesce(wish.enabled, e.enabled),
                disabled_reason = case when not coalesce(wish.enabled, e.enabled)
                    then coalesce(disabled_reason, 'asked') end,
                updated_at = clock_timestamp()
              from (select :enabled::boolean as enabled, :other_times::boolean as other_times) wish
             where e.workspace_id = :workspace and e.id = :id""");

    private static final Sql ROTATE = Sql.of("""
            update webhook_endpoints set previous_key_id = key_id, previous = sealed,
                previous_until = clock_timestamp() + interval '24 hours', key_id = :key_id, sealed = :sealed,
                updated_at = clock_timestamp()
             where workspace_id = :workspace and id = :id""");

    private static final Sql DELETE =
            Sql.of("delete from webhook_endpoints where workspace_id = :workspace and id = :id");

    private static final Sql FOREIGN = Sql.of("""
            select id, key_id, sealed, previous_key_id, previous from webhook_endpoints
             where key_id <> :key_id or previous_key_id <> :key_id order by id for no key update""");

    private static final Sql KEY_IDS = Sql.of("select distinct key_id from webhook_endpoints");

    private static final Sql RESEAL = Sql.of("""
            update webhook_endpoints set key_id = :key_id, sealed = :sealed, previous_key_id = :previous_key_id,
                previous = :previous where id = :id""");

    private final Database database;
    private final EndpointSecrets endpointSecrets;
    private final boolean mail;

    /** Endpoints of an installation without a mail server. */
    public Endpoints(Database database, SecretStore secrets) {
        this(database, secrets, false);
    }

    /** @param mail whether the installation has a mail server */
    public Endpoints(Database database, SecretStore secrets, boolean mail) {
        this.mail = mail;
        this.database = database;
        this.endpointSecrets = new EndpointSecrets(secrets);
    }

    /**
     * Creates an endpoint, which receives events from now on. Empty where the workspace has {@link #MAX_ENDPOINTS}.
     *
     * @param given with a url
     */
    public Optional<Webhook> create(UUID workspace, UUID id, Webhook.Change given, AuditOrigin origin) {
        return create(workspace, id, given, null, origin);
    }

    /**
     * Creates an endpoint that its recipient has added. Empty where the recipient has {@link #MAX_OF_PERSON}, or all people of the
     * workspace have {@link #MAX_OWN}.
     *
     * @param given with a url and a recipient
     */
    public Optional<Webhook> createOwn(UUID workspace, UUID id, Webhook.Change given, AuditOrigin origin) {
        return create(workspace, id, given, Objects.requireNonNull(value(given.recipient())), origin);
    }

    private Optional<Webhook> create(UUID workspace, UUID id, Webhook.Change given, @Nullable String owner,
            AuditOrigin origin) {
        SigningSecret secret = SigningSecret.fresh();
        long from = lastId();
        return database.inTransaction(c -> {
            if (full(c, workspace, owner)) {
                return Optional.empty();
            }
            insert(c, workspace, id, given, owner, endpointSecrets.seal(id, secret), from);
            audit(c, origin, "webhook_created", workspace, id);
            return find(c, workspace, id).map(made -> owner == null ? made.withSecret(secret.text()) : made);
        });
    }

    private static boolean full(Connection c, UUID workspace, @Nullable String owner) throws SQLException {
        TURN.on(c).set("workspace", workspace.toString()).exists();
        return COUNT.on(c).set("workspace", workspace).set("owner", owner)
                .one(row -> owner == null ? row.getLong("shared") >= MAX_ENDPOINTS
                        : row.getLong("own") >= MAX_OWN || row.getLong("of_person") >= MAX_OF_PERSON);
    }

    private static void insert(Connection c, UUID workspace, UUID id, Webhook.Change given, @Nullable String owner,
            SecretStore.Sealed sealed, long from) throws SQLException {
        boolean enabled = !Boolean.FALSE.equals(given.enabled());
        String url = Objects.requireNonNull(given.url());
        EndpointFormat format = Objects.requireNonNull(EndpointFormat.of(given.format(), url));
        CREATE.on(c).set("id", id).set("workspace", workspace).set("url", url).set("format", format.wire())
                .set("description", value(given.description()))
                .setTexts("events", given.events() == null ? Topics.names(format) : events(given.events(), format))
                .set("channel", value(given.channel())).set("recipient", value(given.recipient()))
                .set("owner", owner).set("quiet_from", value(given.quietFrom()))
                .set("quiet_until", value(given.quietUntil()))
                .set("time_zone", value(given.timeZone()))
                .set("digest_minutes", given.digestMinutes() == null ? (Integer) 0 : given.digestMinutes())
                .set("enabled", enabled)
                .set("disabled_reason", enabled ? null : "asked").set("key_id", sealed.keyId())
                .set("sealed", sealed.bytes()).set("from", from).update();
    }

    /** The workspace's endpoints, oldest first. */
    public List<Webhook> list(UUID workspace) {
        return database.withConnection(c -> LIST.on(c).set("workspace", workspace).all(WEBHOOK));
    }

    public Optional<Webhook> find(UUID workspace, UUID id) {
        return database.withConnection(c -> find(c, workspace, id));
    }

    /**
     * Empty for an unknown id.
     *
     * @param check sees the locked endpoint; an exception leaves the endpoint unchanged
     */
    public Optional<Webhook> change(UUID workspace, UUID id, Webhook.Change given, AuditOrigin origin,
            Consumer<Webhook> check) {
        long from = lastId();
        return database.inTransaction(c -> {
            LOCK.on(c).set("workspace", workspace).set("id", id).exists();
            Optional<Webhook> current = find(c, workspace, id);
            if (current.isEmpty()) {
                return current;
            }
            check.accept(current.get());
            EndpointFormat format = EndpointFormat.of(current.get().format(), current.get().url());
            int changed = CHANGE.on(c).set("url", given.url()).set("no_description", removes(given.description()))
                    .set("description", value(given.description()))
                    .setTexts("events",
                            given.events() == null || format == null ? null : events(given.events(), format))
                    .set("no_channel", removes(given.channel())).set("channel", value(given.channel()))
                    .set("no_recipient", removes(given.recipient())).set("recipient", value(given.recipient()))
                    .set("no_quiet_from", removes(given.quietFrom())).set("quiet_from", value(given.quietFrom()))
                    .set("no_quiet_until", removes(given.quietUntil())).set("quiet_until", value(given.quietUntil()))
                    .set("no_time_zone", removes(given.timeZone())).set("time_zone", value(given.timeZone()))
                    .set("digest_minutes", given.digestMinutes())
                    .set("other_times", given.quietFrom() != null || given.quietUntil() != null
                            || given.timeZone() != null || given.digestMinutes() != null)
                    .set("from", from).set("enabled", given.enabled()).set("workspace", workspace).set("id", id)
                    .update();
            if (changed > 0) {
                audit(c, origin, "webhook_changed", workspace, id);
            }
            return find(c, workspace, id);
        });
    }

    /** Creates a new secret; for a day deliveries have signatures by both secrets. Empty for an unknown id. */
    public Optional<Webhook> rotate(UUID workspace, UUID id, AuditOrigin origin) {
        SigningSecret secret = SigningSecret.fresh();
        SecretStore.Sealed sealed = endpointSecrets.seal(id, secret);
        return database.inTransaction(c -> {
            int rotated = ROTATE.on(c).set("key_id", sealed.keyId()).set("sealed", sealed.bytes())
                    .set("workspace", workspace).set("id", id).update();
            if (rotated > 0) {
                audit(c, origin, "webhook_secret_rotated", workspace, id);
            }
            return find(c, workspace, id).map(found -> found.withSecret(secret.text()));
        });
    }

    /** Deletes an endpoint with its deliveries; false for an unknown id. */
    public boolean delete(UUID workspace, UUID id, AuditOrigin origin) {
        return database.inTransaction(c -> {
            if (DELETE.on(c).set("workspace", workspace).set("id", id).update() == 0) {
                return false;
            }
            audit(c, origin, "webhook_deleted", workspace, id);
            return true;
        });
    }

    /** Ids of the keys under which the signing secrets of all workspaces are sealed. */
    public static List<String> keyIds(Connection c) throws SQLException {
        return KEY_IDS.on(c).all(row -> row.getString("key_id"));
    }

    /** Re-encrypts secrets under the current key if their old key is known. */
    public void reseal() {
        database.runInTransaction(c -> {
            String key = endpointSecrets.secrets().keyId();
            for (Sealing each : FOREIGN.on(c).set("key_id", key).all(row -> new Sealing(row.getObject("id", UUID.class),
                    sealed(row, "key_id", "sealed"), former(row)))) {
                SecretStore.Sealed now = endpointSecrets.reencrypted(each.id, each.now);
                SecretStore.Sealed before =
                        each.before == null ? null : endpointSecrets.reencrypted(each.id, each.before);
                RESEAL.on(c).set("key_id", now.keyId()).set("sealed", now.bytes())
                        .set("previous_key_id", before == null ? null : before.keyId())
                        .set("previous", before == null ? null : before.bytes()).set("id", each.id).update();
            }
        });
    }

    private record Sealing(UUID id, SecretStore.Sealed now, SecretStore.@Nullable Sealed before) {}

    /** The previous secret; null if absent. */
    static SecretStore.@Nullable Sealed former(ResultSet row) throws SQLException {
        return row.getBytes("previous") == null ? null : sealed(row, "previous_key_id", "previous");
    }

    static SecretStore.Sealed sealed(ResultSet row, String keyId, String bytes) throws SQLException {
        return new SecretStore.Sealed(row.getString(keyId), row.getBytes(bytes));
    }

    /** Whether the installation has a mail server. */
    public boolean hasMail() {
        return mail;
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

    private static Optional<Webhook> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return ONE.on(c).set("workspace", workspace).set("id", id).first(WEBHOOK);
    }

    private static List<String> events(Optional<List<String>> given, EndpointFormat format) {
        return given.map(each -> each.stream().distinct().toList()).orElseGet(() -> Topics.names(format));
    }

    private static @Nullable String value(@Nullable Optional<String> member) {
        return member == null ? null : member.orElse(null);
    }

    private static boolean removes(@Nullable Optional<String> member) {
        return member != null && member.isEmpty();
    }

    /** Whether a request can be sent to the address at all. */
    public static boolean usable(String url) {
        try {
            URI uri = new URI(url);
            return uri.getScheme() != null
                    && List.of("http", "https").contains(uri.getScheme().toLowerCase(Locale.ROOT))
                    && uri.getHost() != null && uri.getRawUserInfo() == null && uri.getRawFragment() == null
                    && OutboundClient.understands(url);
        } catch (URISyntaxException e) {
            return false;
        }
    }
}
