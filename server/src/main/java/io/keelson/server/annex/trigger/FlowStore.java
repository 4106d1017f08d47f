package io.keelson.server.annex.trigger;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The marks of {@code trigger_deliveries} by which the rules of flow remember passes. All are changed under the trigger's lock. */
final class FlowStore {

    private static final Sql NOW = Sql.of("select clock_timestamp() as now");

    private static final Sql PENDING = Sql.of("""
            select id, admitted_at, formed_at, at_work from trigger_deliveries where id = :id and state = 'pending'""");

    /** The time of the oldest of the last admissions that count. */
    private static final Sql ADMITTED = Sql.of("""
            select admitted_at from trigger_deliveries
             where trigger_id = :trigger and rate_key = :key and admitted_at is not null
             order by admitted_at desc offset :before limit 1""");

    private static final Sql ADMIT = Sql.of(
            "update trigger_deliveries set rate_key = :key, admitted_at = clock_timestamp() where id = :id");

    private static final Sql JOIN = Sql.of("update trigger_deliveries set group_key = :key where id = :id");

    private static final Sql MEMBERS = Sql.of("""
            select id, run_id, received_at, octet_length(body::text)::bigint as bytes from trigger_deliveries
             where trigger_id = :trigger and group_key = :key and state = 'pending' and formed_at is null
             order by received_at, id""");

    private static final Sql FORM = Sql.of("""
            update trigger_deliveries set formed_at = clock_timestamp(), due_at = clock_timestamp() where id = :id""");

    private static final Sql MERGE = Sql.of("""
            update trigger_deliveries
               set state = 'merged', run_id = :run, error_code = null, error_message = null, decided_at = clock_timestamp()
             where id = :id and state = 'pending'""");

    private static final Sql GROUP = Sql.of("""
            select headers, body from trigger_deliveries
             where trigger_id = :trigger and run_id = :run and state in ('pending', 'merged')
             order by received_at, id""");

    private static final Sql AT_WORK = Sql.of("""
            select id, run_id from trigger_deliveries
             where trigger_id = :trigger and single_key = :key and at_work order by received_at""");

    private static final Sql OCCUPY =
            Sql.of("update trigger_deliveries set single_key = :key, at_work = true where id = :id");

    private static final Sql FREE = Sql.of("update trigger_deliveries set at_work = false where id = :id");

    /** The passes of a pending delivery. */
    record Marks(UUID id, @Nullable Instant admittedAt, @Nullable Instant formedAt, boolean atWork) {}

    /** A delivery that waits in a group. */
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

    /** The earliest of the times at which the last {@code limit} deliveries of the key were admitted; empty if there are fewer. */
    Optional<Instant> admitted(Connection c, UUID trigger, String key, int limit) throws SQLException {
        return ADMITTED.on(c).set("trigger", trigger).set("key", key).set("before", limit - 1)
                .first(row -> Rows.time(row, "admitted_at"));
    }

    void admit(Connection c, UUID id, String key) throws SQLException {
        ADMIT.on(c).set("key", key).set("id", id).update();
    }

    void join(Connection c, UUID id, String key) throws SQLException {
        JOIN.on(c).set("key", key).set("id", id).update();
    }

    /** Deliveries that wait in a group, in the order in which they were received. */
    List<Member> members(Connection c, UUID trigger, String key) throws SQLException {
        return MEMBERS.on(c).set("trigger", trigger).set("key", key).all(RecordColumns.of(Member.class));
    }

    /** Lets a delivery start the run of its group. */
    void form(Connection c, UUID id) throws SQLException {
        FORM.on(c).set("id", id).update();
    }

    void merge(Connection c, UUID id, UUID run) throws SQLException {
        MERGE.on(c).set("run", run).set("id", id).update();
    }

    /** The events of a run of several deliveries, in the order in which they were received. */
    List<Part> group(UUID trigger, UUID run) {
        return database.withConnection(
                c -> GROUP.on(c).set("trigger", trigger).set("run", run).all(RecordColumns.of(Part.class)));
    }

    List<Holder> atWork(Connection c, UUID trigger, String key) throws SQLException {
        return AT_WORK.on(c).set("trigger", trigger).set("key", key).all(RecordColumns.of(Holder.class));
    }

    void occupy(Connection c, UUID id, String key) throws SQLException {
        OCCUPY.on(c).set("key", key).set("id", id).update();
    }

    void free(Connection c, UUID id) throws SQLException {
        FREE.on(c).set("id", id).update();
    }
}
