package io.keelson.server.annex.trigger;

import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The lines of deliveries that wait for a rule of flow, by trigger and key, in the order of their receipt. Each delivery is due
 * at its own time by its place, so that a long line costs no more than a short one. Changed under the trigger's lock; one object is for
 * one pass.
 */
final class FlowLines {

    private static final Duration MIN_POLL = Duration.ofSeconds(1);
    private static final Duration MAX_POLL = Duration.ofSeconds(30);
    /** Time after which a place is counted again if earlier deliveries were removed meanwhile. */
    private static final Duration BACKSTOP = Duration.ofMinutes(1);

    private static final String RATE = "rate_key = :key and admitted_at is null";
    private static final String SINGLE = "single_key = :key and not at_work";

    private static final String BEFORE = """
            select count(*) as n from trigger_deliveries
             where trigger_id = :trigger and %s and state = 'pending' and (received_at, id) < (:received_at, :id)
               and (received_at, id) > (:after, :after_id)""";
    private static final Sql RATE_BEFORE = Sql.of(BEFORE.formatted(RATE));
    private static final Sql SINGLE_BEFORE = Sql.of(BEFORE.formatted(SINGLE));

    private static final Sql JOIN_RATE = Sql.of("update trigger_deliveries set rate_key = :key where id = :id");
    private static final Sql JOIN_SINGLE = Sql.of("update trigger_deliveries set single_key = :key where id = :id");

    /** The first of a line. */
    private static final Sql WAKE = Sql.of("""
            update trigger_deliveries
               set due_at = least(due_at, clock_timestamp() + :delay::bigint * interval '1 millisecond')
             where id = (select id from trigger_deliveries
                          where trigger_id = :trigger and state = 'pending' and\s""" + SINGLE + """

                          order by received_at, id limit 1)""");

    /** All that wait in lines of a trigger; in the order in which deliveries are stored. */
    private static final Sql WAKE_ALL = Sql.of("""
            update trigger_deliveries set due_at = least(due_at, clock_timestamp())
             where id = any (array(
                select id from trigger_deliveries
                 where trigger_id = :trigger and state = 'pending'
                   and (rate_key is not null and admitted_at is null or single_key is not null and not at_work)
                 order by trigger_id, key for no key update))""");

    private static final UUID FIRST = new UUID(0, 0);

    /** The last delivery of a line whose place was counted, and the number of deliveries that waited before and with it. */
    private record Place(Instant receivedAt, UUID id, long counted) {}

    private final Connection connection;
    private final Map<String, Place> rates = new HashMap<>();

    FlowLines(Connection connection) {
        this.connection = connection;
    }

    /** The number of deliveries that wait for the rate before this one. Call it in the order of receipt. */
    long beforeInRate(DeliveryRow delivery, String key) throws SQLException {
        Place last = rates.get(key);
        return (last == null ? 0 : last.counted) + before(RATE_BEFORE, delivery, key, last);
    }

    /** The delivery, which has {@code before} others before it, waits or was admitted. */
    void placed(DeliveryRow delivery, String key, long before, boolean waits) {
        rates.put(key, new Place(delivery.receivedAt(), delivery.id(), waits ? before + 1 : before));
    }

    void joinRate(UUID id, String key) throws SQLException {
        JOIN_RATE.on(connection).set("key", key).set("id", id).update();
    }

    /** Whether others wait for the singleton before this delivery. */
    boolean isBehind(DeliveryRow delivery, String key) throws SQLException {
        return before(SINGLE_BEFORE, delivery, key, null) > 0;
    }

    private long before(Sql sql, DeliveryRow delivery, String key, @Nullable Place after) throws SQLException {
        return sql.on(connection).set("trigger", delivery.triggerId()).set("key", key)
                .set("received_at", delivery.receivedAt()).set("id", delivery.id())
                .set("after", after == null ? Instant.EPOCH : after.receivedAt)
                .set("after_id", after == null ? FIRST : after.id).one(row -> row.getLong("n"));
    }

    /**
     * Has the delivery wait for the singleton.
     *
     * @param behind whether others wait before it
     * @return the time until its next decision, for the first delivery a tenth of the time for which it has waited
     */
    Duration joinSingle(DeliveryRow delivery, String key, boolean behind, Instant now) throws SQLException {
        JOIN_SINGLE.on(connection).set("key", key).set("id", delivery.id()).update();
        if (behind) {
            return BACKSTOP;
        }
        Duration tenth = Duration.between(delivery.receivedAt(), now).dividedBy(10);
        return tenth.compareTo(MIN_POLL) < 0 ? MIN_POLL : tenth.compareTo(MAX_POLL) > 0 ? MAX_POLL : tenth;
    }

    /** Decides the first delivery that waits for the singleton after the delay at the latest. */
    void wakeSingle(UUID trigger, String key, Duration delay) throws SQLException {
        WAKE.on(connection).set("trigger", trigger).set("key", key).set("delay", delay.toMillis()).update();
    }

    /** Decides all deliveries in lines of a changed trigger soon. */
    static void wake(Connection c, UUID trigger) throws SQLException {
        WAKE_ALL.on(c).set("trigger", trigger).update();
    }
}
