package io.keelson.server.annex.trigger;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.SafeText;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** {@code trigger_deliveries}. */
final class DeliveryStore {

    private static final int DELETION_BATCH_SIZE = 10_000;
    private static final RecordColumns<DeliveryRow> ROW = RecordColumns.of(DeliveryRow.class);
    private static final String LISTED =
            ROW.without("headers", "body").names() + ", '{}'::jsonb as headers, 'null'::jsonb as body";

    /**
     * Stores nothing for a trigger that is disabled or gone. In the order of the keys, so that transactions with common keys wait for
     * each other in one direction.
     */
    private static final Sql ACCEPT = Sql.of("""
            insert into trigger_deliveries as d (id, workspace_id, trigger_id, key, run_id, headers, body, repeats)
            select n.id, t.workspace_id, t.id, n.key, n.run, n.headers::jsonb, n.body::jsonb, n.repeats
              from unnest(:ids::uuid[], :triggers::uuid[], :keys::text[], :runs::uuid[], :headers::text[],
                    :bodies::text[], :repeats::bigint[]) as n (id, trigger_id, key, run, headers, body, repeats)
              join (select id, workspace_id from triggers where id = any (:triggers) and enabled
                     order by id for key share) t on t.id = n.trigger_id
             order by n.trigger_id, n.key
            on conflict (trigger_id, key) do update set repeats = d.repeats + 1 + excluded.repeats
            returning trigger_id, key, id, run_id, state""");

    private static final Sql CLAIM = Sql.of("""
            update trigger_deliveries set due_at = clock_timestamp() + make_interval(secs => :lease)
             where id = any (array(
                select id from trigger_deliveries where state = 'pending' and due_at <= (select clock_timestamp())
                 order by due_at limit :limit for update skip locked))
            returning\s""" + ROW.names());

    /** One delivery of each workspace, then a second one of each, and so on; the deliveries of a workspace in the order of their times. */
    private static final Sql CLAIM_IN_TURNS = Sql.of("""
            with recursive turns as (
                (select workspace_id from trigger_deliveries where state = 'pending' order by workspace_id limit 1)
                union all
                select (select d.workspace_id from trigger_deliveries d
                         where d.state = 'pending' and d.workspace_id > t.workspace_id order by d.workspace_id limit 1)
                  from turns t where t.workspace_id is not null),
            due as (
                select d.id, d.due_at, row_number() over (partition by d.workspace_id order by d.due_at) as turn
                  from turns t cross join lateral (
                    select id, workspace_id, due_at from trigger_deliveries
                     where workspace_id = t.workspace_id and state = 'pending' and due_at <= (select clock_timestamp())
                     order by due_at limit :limit) d)
            update trigger_deliveries set due_at = clock_timestamp() + make_interval(secs => :lease)
             where id = any (array(
                select id from trigger_deliveries
                 where id = any (array(select id from due order by turn, due_at limit :limit))
                   and state = 'pending' and due_at <= (select clock_timestamp()) for update skip locked))
            returning\s""" + ROW.names());

    private static final Sql NEXT = Sql.of("""
            select exists (select from triggers where enabled and run_ends_from is not null) as receivers,
                   case when exists (select from trigger_replays) then 0
                        else greatest(0, least(:most, coalesce((select ceil(extract(epoch from due_at - clock_timestamp()) * 1000)
                              from trigger_deliveries where state = 'pending' order by due_at limit 1), :most)))
                   end::bigint as millis""");

    /**
     * Decides nothing for a delivery that another server has decided; a delivery that was replayed since has another run. In the order of
     * {@link #ACCEPT}.
     */
    private static final Sql DECIDE = Sql.of("""
            with outcomes as (
                select * from unnest(:ids::uuid[], :held::uuid[], :states::text[], :runs::uuid[], :failures::bigint[],
                        :codes::text[], :messages::text[], :delays::bigint[])
                    as o (id, held, state, run, failures, code, message, delay)),
            locked as materialized (
                select id from trigger_deliveries where id = any (:ids) and state = 'pending'
                 order by trigger_id, key for no key update)
            update trigger_deliveries as d
               set state = o.state, run_id = o.run, failures = o.failures, error_code = left(o.code, 100),
                   error_message = left(o.message, 2000),
                   due_at = clock_timestamp() + o.delay * interval '1 millisecond',
                   at_work = d.at_work and o.state in ('pending', 'started'),
                   group_key = case when o.state = 'pending' then d.group_key end,
                   decided_at = case when o.state <> 'pending' then clock_timestamp() end
              from outcomes o join locked on locked.id = o.id
             where d.id = o.id and d.state = 'pending' and d.run_id = o.held""");

    private static final Sql DECIDE_GROUP = Sql.of("""
            update trigger_deliveries
               set state = :state, error_code = left(:code, 100), error_message = left(:message, 2000), group_key = null
             where trigger_id = :trigger and run_id = :run and state = 'merged'
               and group_key = (select group_key from trigger_deliveries where id = :id and state = 'pending')""");

    private static final Sql LIST = Sql.of("select " + LISTED + """

             from trigger_deliveries
             where workspace_id = :workspace and trigger_id = :trigger and (:state::text is null or state = :state)
               and (:received_at::timestamptz is null or (received_at, id) < (:received_at, :id))
             order by received_at desc, id desc limit :limit""");

    private static final Sql ONE = Sql.of("select " + ROW.names() + """

             from trigger_deliveries where workspace_id = :workspace and trigger_id = :trigger and id = :id""");

    private static final Sql FORGET = Sql.of("""
            delete from trigger_deliveries where id = any (array(
                select id from trigger_deliveries
                 where decided_at < (select clock_timestamp()) - make_interval(days => :days)
                   and not at_work and group_key is null
                 order by decided_at limit :limit))""");

    /**
     * An event that a trigger receives.
     *
     * @param id for its delivery, if it is stored now
     * @param run for its run, if it is stored now
     */
    record Arrived(UUID trigger, UUID id, UUID run, Event event) {}

    /** The delivery of an event, which has the id of the first event with its key. */
    record Accepted(UUID triggerId, String key, UUID id, UUID runId, DeliveryRow.State state) {}

    /** The end of a page of the list. */
    record Place(Instant receivedAt, UUID id) {}

    private final Database database;

    DeliveryStore(Database database) {
        this.database = database;
    }

    /**
     * Stores events once per key.
     *
     * @return a delivery for each trigger and key; none for a trigger that is disabled or gone
     */
    List<Accepted> accept(Connection c, Collection<Arrived> arrived) throws SQLException {
        Map<List<Object>, List<Arrived>> byKey = arrived.stream().collect(Collectors
                .groupingBy(each -> List.of(each.trigger(), each.event().key()), LinkedHashMap::new,
                        Collectors.toList()));
        List<Arrived> first = byKey.values().stream().map(List::getFirst).toList();
        if (first.isEmpty()) {
            return List.of();
        }
        return ACCEPT.on(c).setUuids("ids", first.stream().map(Arrived::id).toList())
                .setUuids("triggers", first.stream().map(Arrived::trigger).toList())
                .setTexts("keys", first.stream().map(each -> each.event().key()).toList())
                .setUuids("runs", first.stream().map(Arrived::run).toList())
                .setTexts("headers", first.stream().map(each -> each.event().headers()).toList())
                .setTexts("bodies", first.stream().map(each -> each.event().body()).toList())
                .setLongs("repeats", byKey.values().stream().map(each -> each.size() - 1L).toList())
                .all(RecordColumns.of(Accepted.class));
    }

    /**
     * The next work.
     *
     * @param receivers whether triggers receive ends of runs
     * @param rest time until a delivery is due or a replay continues
     */
    record Next(boolean receivers, Duration rest) {}

    /** The next work, with a rest of at most the given time. */
    Next next(Duration most) {
        return database.withConnection(c -> NEXT.on(c).set("most", most.toMillis())
                .one(row -> new Next(row.getBoolean("receivers"), Duration.ofMillis(row.getLong("millis")))));
    }

    /**
     * Takes due deliveries for the time of the lease; another server takes them after it.
     *
     * @param inTurns whether workspaces take turns: a search that costs more, for a time with many due deliveries
     */
    List<DeliveryRow> claim(int limit, Duration lease, boolean inTurns) {
        Sql claim = inTurns ? CLAIM_IN_TURNS : CLAIM;
        return database
                .inTransaction(c -> claim.on(c).set("lease", (int) lease.toSeconds()).set("limit", limit).all(ROW));
    }

    /**
     * The outcome of a pending delivery.
     *
     * @param groups whether the delivery may have others merged with it, which get the outcome as well if it has no run
     */
    record Decision(DeliveryRow delivery, Outcome outcome, boolean groups) {

        private boolean ofGroup() {
            return (groups || delivery.formedAt() != null) && outcome.state() != DeliveryRow.State.PENDING;
        }

        /** An expression can fail with any text. */
        private @Nullable String message() {
            return Optional.ofNullable(outcome.message()).map(SafeText::clean).orElse(null);
        }
    }

    /** Records outcomes. */
    void decide(Connection c, List<Decision> decided) throws SQLException {
        for (Decision each : decided) {
            if (each.ofGroup()) {
                decideGroup(c, each);
            }
        }
        if (!decided.isEmpty()) {
            DECIDE.on(c).setUuids("ids", decided.stream().map(each -> each.delivery.id()).toList())
                    .setUuids("held", decided.stream().map(each -> each.delivery.runId()).toList())
                    .setTexts("states", decided.stream().map(each -> each.outcome.state().wire()).toList())
                    .setUuids("runs",
                            decided.stream().map(each -> each.outcome.runOr(each.delivery.runId())).toList())
                    .setLongs("failures", decided.stream()
                            .map(each -> each.delivery.failures() + (each.outcome.failed() ? 1L : 0)).toList())
                    .setTexts("codes", decided.stream().map(each -> each.outcome.code()).toList())
                    .setTexts("messages", decided.stream().map(Decision::message).toList())
                    .setLongs("delays", decided.stream().map(each -> millis(each.outcome.delay())).toList()).update();
        }
    }

    private static void decideGroup(Connection c, Decision decided) throws SQLException {
        DeliveryRow.State state = decided.outcome.state();
        DECIDE_GROUP.on(c).set("state", (state.hasRun() ? DeliveryRow.State.MERGED : state).wire())
                .set("code", decided.outcome.code()).set("message", decided.message())
                .set("trigger", decided.delivery.triggerId()).set("run", decided.delivery.runId())
                .set("id", decided.delivery.id()).update();
    }

    /** Rounded up: a delivery that is due too early would wait again. */
    private static long millis(Duration delay) {
        return delay.plusNanos(999_999).toMillis();
    }

    /**
     * Newest first, without headers and bodies.
     *
     * @param state null for all
     * @param after where to continue; null to begin with the newest
     */
    Page<DeliveryRow> list(UUID workspace, UUID trigger, @Nullable String state, @Nullable Place after, int limit) {
        return database.inTransaction(c -> LIST.on(c).set("workspace", workspace).set("trigger", trigger)
                .set("state", state).set("received_at", after == null ? null : after.receivedAt())
                .set("id", after == null ? null : after.id()).page(limit, ROW));
    }

    Optional<DeliveryRow> find(UUID workspace, UUID trigger, UUID id) {
        return database.withConnection(
                c -> ONE.on(c).set("workspace", workspace).set("trigger", trigger).set("id", id).first(ROW));
    }

    /** Deletes deliveries that were decided that number of days ago; true if more may be left. */
    boolean forget(int days) {
        return database.inTransaction(
                c -> FORGET.on(c).set("days", days).set("limit", DELETION_BATCH_SIZE).update()) == DELETION_BATCH_SIZE;
    }
}
