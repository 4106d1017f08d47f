package io.keelson.server.annex.trigger;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The marks of {@code trigger_deliveries} by which the rules of flow remember passes. All are changed under the trigger's lock.
 * {@code group_key} is set for the events of groups without a decided starter only, so that a read of a group does not read
 * former groups of its key.
 */
final class FlowStore {

    private static final Sql NOW = Sql.of("select clock_timestamp() as now");

    private static final Sql PENDING = Sql.of("""
            select id, admitted_at, formed_at, at_work from trigger_deliveries where id = :id and state = 'pending'""");

    /** The time of one of the last admissions. */
    private static final Sql ADMITTED = Sql.of("""
            select admitted_at from trigger_deliveries
             where trigger_id = :trigger and rate_key = :key and admitted_at is not null
             order by admitted_at desc offset :before limit 1""");

    private static final Sql ADMIT = Sql.of(
            "update trigger_deliveries set rate_key = :key, admitted_at = clock_timestamp() where id = :id");

    private static final Sql JOIN = Sql.of("update trigger_deliveries set group_key = :key where id = :id");

    private static final Sql MEMBERS = Sql.of("""
            select id, run_id, received_at,
                   case when :sized then octet_length(body::text)::bigint else 0 end as bytes
              from trigger_deliveries
             where trigger_id = :trigger and group_key = :key and state = 'pending' and formed_at is null
             order by received_at, id""");

    /** A delivery without a first decision has no error code. */
    private static final Sql UNDECIDED = Sql.of("""
            select id from trigger_deliveries
             where trigger_id = :trigger and received_at >= :since and received_at < :until
               and state = 'pending' and group_key is null and error_code is null limit 1""");

    private static final Sql FORM = Sql.of("""
            update trigger_deliveries
               set formed_at = clock_timestamp(), due_at = case when :due then clock_timestamp() else due_at end
             where id = :id""");

    private static final Sql MERGE = Sql.of("""
            update trigger_deliveries
               set state = 'merged', run_id = :run, error_code = null, error_message = null, decided_at = clock_timestamp()
             where id = any (:ids) and state = 'pending'""");

    private static final Sql GROUP = Sql.of("""
            select headers, body from trigger_deliveries
             where trigger_id = :trigger and run_id = :run and state in ('pending', 'merged')
               and group_key = (select group_key from trigger_deliveries where id = :id)
             order by received_at, id""");

    private static final Sql AT_WORK = Sql.of("""
            select id, run_id from trigger_deliveries
             where trigger_id = :trigger and single_key = :key and at_work order by received_at""");

    private static final Sql HOLDERS =
            Sql.of("select id, run_id from trigger_deliveries where trigger_id = :trigger and at_work");

    private static final Sql OLD = Sql.of("""
            select id, run_id from trigger_deliveries
             where at_work and decided_at < (select clock_timestamp()) - make_interval(days => :days)
             order by decided_at limit :limit""");

    private static final Sql OCCUPY =
            Sql.of("update trigger_deliveries set single_key = :key, at_work = true where id = :id");

    /** A delivery that was replayed meanwhile has another run. */
    private static final Sql FREE =
            Sql.of("""
            update trigger_deliveries set at_work = false where id = any (:ids) and run_id = any (:runs) and at_work""");

    /** The passes of a pending delivery. */
    record Marks(UUID id, @Nullable Instant admittedAt, @Nullable Instant formedAt, boolean atWork) {}

    /**
     * A delivery that waits in a group.
     *
     * @param bytes length of its body; 0 if it was not read
     */
    record Member(UUID id, UUID runId, Instant receivedAt, long bytes) {}

    /** A delivery that holds the key of a singleton. */
    record Holder(UUID id, UUID runId) {}

    /** An event of a batch. */
    record Part(ObjectNode headers, JsonNode body) {}

    private final Database database;

    FlowStore(Database database) {
        this.database = database;
    }

    Instant time(Connection c) throws SQLException {
        return NOW.on(c).one(row -> Rows.time(row, "now"));
    }

    /** Empty for a delivery that is decided. */
    Optional<Marks> pending(Connection c, UUID id) throws SQLException {
        return PENDING.on(c).set("id", id).first(RecordColumns.of(Marks.class));
    }

    /** The time of the key's last admission but {@code later}; empty if there are fewer. */
    Optional<Instant> admitted(Connection c, UUID trigger, String key, int later) throws SQLException {
        return ADMITTED.on(c).set("trigger", trigger).set("key", key).set("before", later)
                .first(row -> Rows.time(row, "admitted_at"));
    }

    void admit(Connection c, UUID id, String key) throws SQLException {
        ADMIT.on(c).set("key", key).set("id", id).update();
    }

    void join(Connection c, UUID id, String key) throws SQLException {
        JOIN.on(c).set("key", key).set("id", id).update();
    }

    /**
     * Deliveries that wait in a group, in the order in which they were received.
     *
     * @param sized whether the lengths of their bodies are read
     */
    List<Member> members(Connection c, UUID trigger, String key, boolean sized) throws SQLException {
        return MEMBERS.on(c).set("sized", sized).set("trigger", trigger).set("key", key)
                .all(RecordColumns.of(Member.class));
    }

    /** Whether an event of that time, whose rules were not applied yet, may belong to a group. */
    boolean hasUndecided(Connection c, UUID trigger, Instant since, Instant until) throws SQLException {
        return UNDECIDED.on(c).set("trigger", trigger).set("since", since).set("until", until).exists();
    }

    /**
     * Lets a delivery start the run of its group.
     *
     * @param due whether it is decided next; false for a delivery that this server decides already
     */
    void form(Connection c, UUID id, boolean due) throws SQLException {
        FORM.on(c).set("due", due).set("id", id).update();
    }

    /** Merges pending deliveries into a run; returns how many there are. */
    int merge(Connection c, Collection<UUID> ids, UUID run) throws SQLException {
        return MERGE.on(c).set("run", run).setUuids("ids", ids).update();
    }

    /** The events of the run of a batch, in the order in which they were received. */
    List<Part> group(DeliveryRow starter) {
        return database.withConnection(c -> GROUP.on(c).set("trigger", starter.triggerId()).set("run", starter.runId())
                .set("id", starter.id()).all(RecordColumns.of(Part.class)));
    }

    List<Holder> atWork(Connection c, UUID trigger, String key) throws SQLException {
        return AT_WORK.on(c).set("trigger", trigger).set("key", key).all(RecordColumns.of(Holder.class));
    }

    /** Deliveries of a trigger that hold keys. */
    List<Holder> holders(Connection c, UUID trigger) throws SQLException {
        return HOLDERS.on(c).set("trigger", trigger).all(RecordColumns.of(Holder.class));
    }

    /** Deliveries of all triggers that hold keys and were decided that number of days ago, the oldest first. */
    List<Holder> oldHolders(Connection c, int days, int limit) throws SQLException {
        return OLD.on(c).set("days", days).set("limit", limit).all(RecordColumns.of(Holder.class));
    }

    void occupy(Connection c, UUID id, String key) throws SQLException {
        OCCUPY.on(c).set("key", key).set("id", id).update();
    }

    /** Frees the keys that the deliveries hold for these runs. */
    void free(Connection c, Collection<Holder> holders) throws SQLException {
        FREE.on(c).setUuids("ids", holders.stream().map(Holder::id).toList())
                .setUuids("runs", holders.stream().map(Holder::runId).toList()).update();
    }
}
