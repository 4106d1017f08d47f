package io.keelson.server.outlet.webhook;

import io.keelson.core.run.TraceParent;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.outlet.notice.Notice;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.secret.SecretStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Sends deliveries, for each endpoint in the order of events. An endpoint in progress is leased: when its lease ends it
 * is due again, under another epoch.
 */
final class DeliverySender {

    private static final Logger LOG = LoggerFactory.getLogger(DeliverySender.class);
    private static final int MAX_ERROR_LENGTH = 500;

    private static final Sql CLAIM = Sql.of("""
            update webhook_endpoints set lease_epoch = lease_epoch + 1, due_at = now.until, held_until = now.until
              from (select clock_timestamp() + :lease * interval '1 millisecond' as until) now
             where id = any (array(select id from webhook_endpoints
                 where enabled and due_at <= clock_timestamp() order by due_at limit :limit for no key update skip locked))
            returning id, lease_epoch""");

    /** Only under the lease; reads the current secrets and address. */
    private static final Sql HEAD = Sql.of("""
            select d.id, d.type, d.body, d.attempts, d.traceparent, d.created_at, e.workspace_id, e.url, e.format,
                e.recipient, e.owner, e.quiet_from, e.quiet_until, e.time_zone, e.digest_minutes,
                e.failing_since is not null as failing, e.key_id, e.sealed, e.previous_key_id,
                case when e.previous_until > clock_timestamp() then e.previous end as previous
              from webhook_endpoints e cross join lateral (
                select id, type, body, attempts, traceparent, created_at from webhook_deliveries
                 where endpoint_id = e.id and state = 'pending' order by position, id limit 1) d
             where e.id = :id and e.lease_epoch = :lease_epoch and e.enabled""");

    /** The deliveries of one message. Each attempt finds the same deliveries, as later deliveries are created after the time. */
    private static final Sql GATHERED =
            Sql.of("""
            select id, body from webhook_deliveries
             where endpoint_id = :id and state = 'pending' and created_at <= :until order by position, id limit :limit""");

    /** Only under the lease. */
    private static final Sql HELD = Sql.of("""
            select true from webhook_endpoints where id = :id and lease_epoch = :lease_epoch for no key update""");

    private static final Sql RESULT = Sql.of("""
            update webhook_deliveries set state = :state, attempts = attempts + :counted, last_status = :status,
                last_error = :error, attempted_at = clock_timestamp(),
                completed_at = case when :pending then null else clock_timestamp() end
             where id = any (:ids) and state = 'pending'""");

    private static final Sql GO_ON = Sql.of("""
            update webhook_endpoints set due_at = now.until, held_until = now.until
              from (select clock_timestamp() + :millis * interval '1 millisecond' as until) now where id = :id""");

    private static final Sql LET_GO = Sql.of("""
            update webhook_endpoints set due_at = clock_timestamp() + :millis * interval '1 millisecond', held_until = null
             where id = :id""");

    private static final Sql DISABLE = Sql.of("""
            update webhook_endpoints set enabled = false, disabled_reason = :reason, due_at = null,
                held_until = null, updated_at = clock_timestamp() where id = :id and enabled""");

    private static final Sql WELL = Sql.of("""
            update webhook_endpoints set failing_since = null, last_error = null where id = :id""");

    /** Whether the endpoint is to be disabled. */
    private static final Sql FAILING = Sql.of("""
            update webhook_endpoints e
               set failing_since = case when failing_since is null then clock_timestamp() else failing_since end,
                   last_error = :last_error
             where id = :id
            returning failing_since <= clock_timestamp() - :millis * interval '1 millisecond' or (
                select count(*) from (select from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'pending'
                    limit :limit) waiting) >= :limit as hopeless""");

    /** Runs with the endpoint's row locked: adding a delivery updates that row, before or after this. */
    private static final Sql REST = Sql.of("""
            update webhook_endpoints e set held_until = null, due_at = case when exists (
                select from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'pending')
                then clock_timestamp() end
             where id = :id returning due_at is not null as waits""");

    private final Database database;
    private final DeliveryTransport transport;
    private final EndpointSecrets endpointSecrets;
    private final Clock clock;
    private final DeliveryPolicy deliveryPolicy;
    private final List<DeliveryObserver> observers;

    DeliverySender(Database database, DeliveryTransport transport, EndpointSecrets endpointSecrets, Clock clock,
            DeliveryPolicy deliveryPolicy, List<DeliveryObserver> observers) {
        this.database = database;
        this.transport = transport;
        this.endpointSecrets = endpointSecrets;
        this.clock = clock;
        this.deliveryPolicy = deliveryPolicy;
        this.observers = observers;
    }

    /** Claims due endpoints, up to a maximum; each is then served by {@link EndpointBatch#serve}, on any thread. */
    List<EndpointBatch> claim(int most) {
        return database
                .inTransaction(c -> CLAIM.on(c).set("lease", deliveryPolicy.lease().toMillis()).set("limit", most)
                        .all(row -> new EndpointBatch(row.getObject("id", UUID.class), row.getLong("lease_epoch"))));
    }

    /** A claimed endpoint: sends its waiting deliveries until one fails. */
    final class EndpointBatch {
        private final UUID endpoint;
        private final long epoch;

        private EndpointBatch(UUID endpoint, long epoch) {
            this.endpoint = endpoint;
            this.epoch = epoch;
        }

        /**
         * Serves the endpoint.
         *
         * @return true when more deliveries wait
         * @throws InterruptedException when aborted; another node may serve it at once
         */
        boolean serve() throws InterruptedException {
            Outgoing next = head();
            for (int i = 0; i < deliveryPolicy.turn() && next != null; i++) {
                Duration wait = next.wait(clock.instant());
                if (wait.isPositive()) {
                    letGo(wait);
                    return false;
                }
                DeliveryTransport.Outcome outcome;
                long begun = System.nanoTime();
                TraceParent place = place(next.run());
                try {
                    outcome = transport.attempt(next, place);
                } catch (InterruptedException e) {
                    letGo(Duration.ZERO);
                    throw e;
                }
                DeliveryObserver.Outcome noted = record(next, outcome);
                if (noted == null) {
                    return false;
                }
                DeliveryObserver.Attempt attempt = new DeliveryObserver.Attempt(endpoint, next.format(),
                        next.type(), noted, outcome.status(), System.nanoTime() - begun, next.run(), place);
                observers.forEach(each -> each.attempted(attempt));
                if (noted == DeliveryObserver.Outcome.FAILED || noted == DeliveryObserver.Outcome.GONE) {
                    return false;
                }
                next = head();
            }
            return database.inTransaction(c -> held(c) && rest(c));
        }

        private void letGo(Duration wait) {
            database.runInTransaction(c -> {
                if (held(c)) {
                    due(c, LET_GO, wait);
                }
            });
        }

        private @Nullable Outgoing head() {
            return database.withConnection(c -> {
                Outgoing head = HEAD.on(c).set("id", endpoint).set("lease_epoch", epoch).first(this::head).orElse(null);
                return head == null || head.digest().isZero() ? head
                        : head.with(GATHERED.on(c).set("id", endpoint).set("until", head.since().plus(head.digest()))
                                .set("limit", Notice.MAX_OF_MESSAGE).all(RecordColumns.of(Outgoing.Content.class)));
            });
        }

        private Outgoing head(ResultSet row) throws SQLException {
            List<SigningSecret> secrets = new ArrayList<>();
            @Nullable String lost = null;
            SecretStore.Sealed present = Endpoints.sealed(row, "key_id", "sealed");
            if (endpointSecrets.secrets().knows(present.keyId())) {
                secrets.add(endpointSecrets.open(endpoint, present));
            } else {
                lost = "its secret is sealed under the key " + present.keyId()
                        + ", which this server does not have; name that key in KEELSON_SECRET_KEYS_PREVIOUS or rotate the secret";
            }
            SecretStore.Sealed previous = Endpoints.former(row);
            if (previous != null && endpointSecrets.secrets().knows(previous.keyId())) {
                secrets.add(endpointSecrets.open(endpoint, previous));
            }
            EndpointFormat format = EndpointFormat.valueOf(row.getString("format").toUpperCase(Locale.ROOT));
            return new Outgoing(endpoint, List.of(
                    new Outgoing.Content(row.getObject("id", UUID.class), row.getString("body"))),
                    row.getString("type"), Rows.time(row, "created_at"), row.getInt("attempts"),
                    TraceParent.parse(row.getString("traceparent")), row.getObject("workspace_id", UUID.class),
                    row.getString("url"), format, row.getString("recipient"),
                    row.getString("owner"), quiet(row),
                    Duration.ofMinutes(row.getInt("digest_minutes")), row.getBoolean("failing"), secrets,
                    format.forPeople() ? null : lost);
        }

        private static @Nullable QuietHours quiet(ResultSet row) throws SQLException {
            String from = row.getString("quiet_from");
            return from == null ? null
                    : new QuietHours(LocalTime.parse(from), LocalTime.parse(row.getString("quiet_until")),
                            ZoneId.of(row.getString("time_zone")));
        }

        private @Nullable TraceParent place(@Nullable TraceParent run) {
            TraceParent place = run;
            for (DeliveryObserver observer : observers) {
                place = observer.place(place);
            }
            return place;
        }

        /** Null when another node serves the endpoint. */
        private DeliveryObserver.@Nullable Outcome record(Outgoing delivery, DeliveryTransport.Outcome outcome) {
            return database.<DeliveryObserver.@Nullable Outcome>inTransaction(c -> {
                if (!held(c)) {
                    return null;
                }
                boolean delivered = outcome.error() == null;
                Duration pause = outcome.pause();
                boolean dead = !delivered && !outcome.gone() && pause == null
                        && delivery.attempts() >= deliveryPolicy.delays().size();
                result(c, delivery, outcome, delivered ? "delivered" : dead ? "dead" : "pending");
                if (outcome.gone()) {
                    disable(c, delivery, "gone");
                    LOG.warn("webhook {} is disabled: {}", endpoint, outcome.error());
                    return DeliveryObserver.Outcome.GONE;
                }
                if (delivered) {
                    if (delivery.failing()) {
                        well(c);
                    }
                    due(c, GO_ON, deliveryPolicy.lease());
                    return DeliveryObserver.Outcome.DELIVERED;
                }
                boolean hopeless = failing(c, String.valueOf(outcome.error()));
                if (dead) {
                    due(c, GO_ON, deliveryPolicy.lease());
                } else {
                    due(c, LET_GO, pause == null ? deliveryPolicy.delays().get(delivery.attempts()) : pause);
                }
                if (hopeless) {
                    giveUp(c, delivery);
                }
                return dead ? DeliveryObserver.Outcome.DEAD : DeliveryObserver.Outcome.FAILED;
            });
        }

        private void giveUp(Connection c, Outgoing delivery) throws SQLException {
            disable(c, delivery, "failing");
            LOG.warn("webhook {} is disabled: no success for {} days, or too many waiting deliveries",
                    endpoint,
                    deliveryPolicy.failingLimit().toDays());
        }

        private void well(Connection c) throws SQLException {
            WELL.on(c).set("id", endpoint).update();
        }

        /** Records the failure; true when the endpoint is to be disabled. */
        private boolean failing(Connection c, String error) throws SQLException {
            return FAILING.on(c).set("last_error", error.substring(0, Math.min(MAX_ERROR_LENGTH, error.length())))
                    .set("id", endpoint).set("millis", deliveryPolicy.failingLimit().toMillis())
                    .set("limit", deliveryPolicy.most()).first(row -> row.getBoolean("hopeless")).orElse(false);
        }

        private boolean held(Connection c) throws SQLException {
            return HELD.on(c).set("id", endpoint).set("lease_epoch", epoch).exists();
        }

        private static void result(Connection c, Outgoing delivery, DeliveryTransport.Outcome outcome, String state)
                throws SQLException {
            RESULT.on(c).set("state", state).set("status", outcome.status()).set("error", outcome.error())
                    .set("counted", outcome.pause() == null ? 1 : 0).set("pending", state.equals("pending"))
                    .setUuids("ids", delivery.contents().stream().map(Outgoing.Content::id).toList()).update();
        }

        private void due(Connection c, Sql sql, Duration in) throws SQLException {
            sql.on(c).set("millis", in.toMillis()).set("id", endpoint).update();
        }

        private void disable(Connection c, Outgoing delivery, String reason) throws SQLException {
            DISABLE.on(c).set("reason", reason).set("id", endpoint).update();
            AuditLog.write(c, AuditOrigin.SERVER, "webhook_disabled", delivery.workspace(), endpoint.toString(),
                    JsonNodeFactory.instance.objectNode().put("reason", reason));
        }

        private boolean rest(Connection c) throws SQLException {
            return REST.on(c).set("id", endpoint).first(row -> row.getBoolean("waits")).orElse(false);
        }
    }
}
