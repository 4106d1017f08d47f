package io.keelson.server.annex.trigger;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Replays of deliveries: they become pending again. The first ones are replayed in the transaction of the request; further ones are
 * left to {@link #step}, by a row of {@code trigger_replays}.
 */
final class Replays {

    /** Maximum deliveries of one transaction. */
    static final int BATCH_SIZE = 5_000;

    private static final UUID FIRST = new UUID(0, 0);

    /** A delivery that had a run gets another one. It would lose the key of a singleton, and keeps it until its run ends. */
    private static final Sql REPLAY = Sql.of("""
            with chosen as materialized (
                select id, received_at from trigger_deliveries
                 where workspace_id = :workspace and trigger_id = :trigger and state <> 'pending' and not at_work
                   and (:id::uuid is null or id = :id) and (:state::text is null or state = :state)
                   and (:since::timestamptz is null or received_at >= :since)
                   and (:until::timestamptz is null or received_at < :until)
                   and (:decided_since::timestamptz is null or decided_at >= :decided_since)
                   and decided_at <= :asked_at and (received_at, id) > (:after_received, :after_id)
                 order by received_at, id limit :limit for no key update),
            replayed as (
                update trigger_deliveries d
                   set run_id = case when state in ('started', 'signalled', 'merged') then gen_random_uuid() else run_id end,
                       state = 'pending', decided_at = null, failures = 0, error_code = null, error_message = null,
                       rate_key = null, admitted_at = null, group_key = null, formed_at = null, single_key = null,
                       due_at = clock_timestamp()
                  from chosen where d.id = chosen.id)
            select (select count(*) from chosen) as n, received_at, id from chosen
             order by received_at desc, id desc limit 1""");

    private static final Sql NOW = Sql.of("select clock_timestamp() as at");

    private static final RecordColumns<Rest> ROW = RecordColumns.of(Rest.class);

    private static final Sql LEAVE =
            Sql.of("""
            insert into trigger_replays (workspace_id, trigger_id, state, since, until, decided_since, asked_at,
                after_received, after_id)
            values (:workspace, :trigger, :state, :since, :until, :decided_since, :asked_at, :after_received, :after_id)""");

    private static final Sql NEXT = Sql.of("select " + ROW.names() + """

             from trigger_replays order by asked_at, id limit 1 for update skip locked""");

    private static final Sql MOVE = Sql.of("""
            update trigger_replays set after_received = :after_received, after_id = :after_id where id = :id""");

    private static final Sql END = Sql.of("delete from trigger_replays where id = :id");

    /**
     * Deliveries of one trigger that are replayed.
     *
     * @param id id of the delivery; null for all
     * @param state state of the deliveries; null for all
     * @param since earliest time of receipt; null for all
     * @param until latest time of receipt, exclusive; null for all
     * @param decidedSince earliest time of the outcome; null for all
     */
    record Which(@Nullable UUID id, @Nullable String state, @Nullable Instant since, @Nullable Instant until,
            @Nullable Instant decidedSince) {}

    /**
     * The result of a batch.
     *
     * @param count number of its deliveries
     * @param more whether further ones may be left
     */
    record Batch(int count, boolean more) {}

    private record Rest(UUID id, UUID workspaceId, UUID triggerId, @Nullable String state, @Nullable Instant since,
            @Nullable Instant until, @Nullable Instant decidedSince, Instant askedAt, Instant afterReceived,
            UUID afterId) {}

    private record Last(long n, Instant receivedAt, UUID id) {}

    private record Time(Instant at) {}

    private final Database database;

    Replays(Database database) {
        this.database = database;
    }

    /** Has deliveries that hold no key decided again, by the trigger as it is now. */
    Batch begin(Connection c, UUID workspace, UUID trigger, Which which) throws SQLException {
        Instant asked = NOW.on(c).one(RecordColumns.of(Time.class)).at();
        Last last = replay(c, workspace, trigger, which, asked, Instant.EPOCH, FIRST).orElse(null);
        if (last == null) {
            return new Batch(0, false);
        }
        boolean more = last.n() == BATCH_SIZE;
        if (more) {
            LEAVE.on(c).set("workspace", workspace).set("trigger", trigger).set("state", which.state())
                    .set("since", which.since()).set("until", which.until()).set("decided_since", which.decidedSince())
                    .set("asked_at", asked).set("after_received", last.receivedAt()).set("after_id", last.id())
                    .update();
        }
        return new Batch((int) last.n(), more);
    }

    /** Replays further deliveries of the oldest request that no other server works on; false without one. */
    boolean step() {
        return database.inTransaction(c -> {
            Rest rest = NEXT.on(c).first(ROW).orElse(null);
            if (rest == null) {
                return false;
            }
            Optional<Last> last = replay(c, rest.workspaceId(), rest.triggerId(),
                    new Which(null, rest.state(), rest.since(), rest.until(), rest.decidedSince()), rest.askedAt(),
                    rest.afterReceived(), rest.afterId());
            if (last.isPresent() && last.get().n() == BATCH_SIZE) {
                MOVE.on(c).set("after_received", last.get().receivedAt()).set("after_id", last.get().id())
                        .set("id", rest.id()).update();
            } else {
                END.on(c).set("id", rest.id()).update();
            }
            return true;
        });
    }

    private static Optional<Last> replay(Connection c, UUID workspace, UUID trigger, Which which, Instant asked,
            Instant after, UUID afterId) throws SQLException {
        return REPLAY.on(c).set("workspace", workspace).set("trigger", trigger).set("id", which.id())
                .set("state", which.state()).set("since", which.since()).set("until", which.until())
                .set("decided_since", which.decidedSince()).set("asked_at", asked).set("after_received", after)
                .set("after_id", afterId).set("limit", BATCH_SIZE).first(RecordColumns.of(Last.class));
    }
}
