package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.QueueFloors.Extent;
import io.keelson.server.engine.store.QueueFloors.Floor;
import io.keelson.server.engine.store.QueueFloors.Queue;
import io.keelson.server.engine.store.RunStore.Due;
import io.keelson.server.engine.store.RunStore.Place;
import io.keelson.server.engine.store.RunStore.Sweep;
import io.keelson.server.engine.store.sql.ModelName;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * Finds due work by index, at any size of queue and history. Takes no locks: each finding becomes a command whose
 * decision checks it again. The time is in scalar subqueries, because a volatile function in a condition prevents an
 * index scan.
 */
final class DueWork {

    /** Rows may be committed that much later than they are queued, without being below the floor of their queue. */
    private static final String LATE = "interval '5 seconds'";
    /** A bounded poll reads due times since then. */
    private static final String RECENT = "interval '10 seconds'";

    /** Blocks of the queue that this session has read and not reported, for differences within a statement. */
    private static final String BLOCKS = """
            (pg_stat_get_xact_blocks_fetched('work_queue'::regclass)
                + pg_stat_get_xact_blocks_fetched('ix_work_queue_turn'::regclass)
                + pg_stat_get_xact_blocks_fetched('ix_work_queue_lease'::regclass)
                + pg_stat_get_xact_blocks_fetched('ix_work_queue_deadline'::regclass))""";

    /**
     * Without the search for unclaimed rows if those are found otherwise; of recent due times if floors bound the poll. The mark of
     * settings is null if it is not read.
     */
    private static final String DUE = """
            with clock as materialized (
                select now, case when bounded then now - {recent} else timestamptz '-infinity' end as since, searches, blocks
                  from (select {now} as now, ?::boolean as bounded, ?::boolean as searches,
                            {blocks} as blocks) c)
            select searches and (select task_id from work_queue where holder is null
                        order by workspace_id limit 1) is not null as ready,
                   (select min(lease_expires_at) from work_queue where holder is not null and lease_expires_at >= since)
                        < now as lapsed,
                   (select min(deadline_at) from work_queue where deadline_at >= since)
                        < now - ? * interval '1 millisecond' as late,
                   (select min(due_at) from timers where due_at >= since) <= now as timers,
                   (select true from orchestration_runs where policy #>> '{concurrency,key}' is not null
                       and state_type <> 'terminal' and (state = 'pending') is true
                     order by workspace_id, policy #>> '{concurrency,key}', id limit 1) as turns,
                   keelson_schedules_due(now) as schedules,
                   keelson_webhooks_wait(now) as webhooks,
                   keelson_commands_due(now) as commands,
                   keelson_events_unsettled() as events,
                   keelson_database_went_back() as went_back,
                   (select ceil(extract(epoch from min(lease_expires_at) - now) * 1000)::bigint from work_queue
                     where holder is not null and lease_expires_at >= now) as next_lease_ms,
                   case when ?::boolean then keelson_settings_mark() end as settings,
                   now - {late} as floor,
                   {blocks} - blocks as blocks
              from clock""".replace("{now}", DbClock.SQL).replace("{blocks}", BLOCKS).replace("{recent}", RECENT)
            .replace("{late}", LATE);

    /** All queues with unclaimed rows, and in the last row the blocks that were read for them. */
    private static final String SURVEY = """
            with recursive clock as materialized (select {now} - {late} as floor, {blocks} as blocks),
            queues (workspace_id, tool, model, priority, queued_at) as (
                select first.* from clock cross join lateral (
                    select q.workspace_id, q.tool, q.model, q.priority, q.queued_at from work_queue q
                     where q.holder is null and clock.blocks is not null
                     order by q.workspace_id, q.tool, q.model, q.priority, q.queued_at limit 1) first
                union all
                select next.* from queues h cross join lateral (
                    select q.workspace_id, q.tool, q.model, q.priority, q.queued_at from work_queue q
                     where q.holder is null
                       and (q.workspace_id, q.tool, q.model, q.priority)
                            > (h.workspace_id, h.tool, h.model, h.priority)
                     order by q.workspace_id, q.tool, q.model, q.priority, q.queued_at limit 1) next),
            found as materialized (select * from queues limit ?)
            select workspace_id, tool, model, priority, least(queued_at, floor) as floor, null::bigint as blocks
              from found, clock
            union all
            select null, null, null, null, floor, {blocks} - blocks from clock"""
            .replace("{now}", DbClock.SQL).replace("{blocks}", BLOCKS).replace("{late}", LATE);

    /** The oldest row of known queues. */
    private static final String ADVANCE = """
            select k.workspace_id, k.tool, k.model, k.priority, first.queued_at is not null as ready,
                least(first.queued_at, clock.floor) as floor
              from (select {now} - {late} as floor) clock
             cross join unnest(?::uuid[], ?::text[], ?::text[], ?::int4[], ?::timestamptz[])
                    as k (workspace_id, tool, model, priority, floor)
              left join lateral (
                select q.queued_at from work_queue q
                 where q.holder is null and q.workspace_id = k.workspace_id and q.tool = k.tool and q.model = k.model
                   and q.priority = k.priority and q.queued_at >= k.floor
                 order by q.queued_at limit 1) first on true""".replace("{now}", DbClock.SQL).replace("{late}", LATE);

    /** Laterals with a limit, because a plain {@code exists} may read all open tasks. */
    private static final String STUCK_JOINS = """
            with open as materialized (
                select r.workspace_id, r.id, r.attempt_number,
                    r.state = 'running' and r.updated_at < (select {now} - interval '1 minute') as old
                  from orchestration_runs r
                 where r.state_type <> 'terminal' and (r.workspace_id, r.id) > (?, ?)
                 order by r.workspace_id, r.id
                 limit ?)
            select o.workspace_id, o.id, o.old and task.found is null and timer.found is null as stuck
              from open o
              left join lateral (
                select true as found from orchestration_tasks t
                 where o.old and t.run_id = o.id and t.attempt = o.attempt_number and t.state_type <> 'terminal'
                 limit 1) task on true
              left join lateral (
                select true as found from timers
                 where o.old and timers.run_id = o.id and timers.kind <> 'watch' limit 1) timer on true
             order by o.workspace_id, o.id""".replace("{now}", DbClock.SQL);

    private final DbClock clock;
    private final LongSupplier nanoTime;
    private final QueueFloors floors;

    /** @param nanoTime monotonic time */
    DueWork(DbClock clock, LongSupplier nanoTime, QueueFloors floors) {
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.floors = floors;
    }

    /** These rows may be in the queue now. */
    void put(Collection<Optional<QueueItem>> items) {
        for (Optional<QueueItem> each : items) {
            if (each.isPresent() && each.get().holder() == null) {
                QueueItem item = each.get();
                floors.put(new Queue(item.workspaceId(), item.tool(), ModelName.of(item.input()), item.priority()),
                        item.queuedAt(), nanoTime.getAsLong());
            }
        }
    }

    /** The work that is due. If polls are dear, most of them read the queue from its floors on, and recent due times. */
    Due due(Connection c, Duration grace, boolean settings) throws SQLException {
        long began = nanoTime.getAsLong();
        Extent extent = floors.begin(began);
        boolean searches = extent == Extent.WHOLE || extent == Extent.SURVEY && !floors.bounded();
        try {
            Poll poll = poll(c, grace, extent, searches, settings);
            return switch (extent) {
                case WHOLE -> poll.due;
                case SURVEY -> poll.due.withReady(searches && !poll.due.ready() ? empty(poll, began)
                        : survey(c, poll.blocks, began));
                case BOUNDED -> poll.due.withReady(advance(c));
            };
        } finally {
            floors.end(extent);
        }
    }

    /**
     * @param floor of queues without an unclaimed row
     * @param blocks of the queue that it has read
     */
    private record Poll(Due due, Instant floor, long blocks) {}

    /** An empty subquery gives null, which reads as false. */
    private Poll poll(Connection c, Duration grace, Extent extent, boolean searches, boolean settings)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DUE)) {
            clock.bind(statement, 1);
            statement.setBoolean(2, extent == Extent.BOUNDED);
            statement.setBoolean(3, searches);
            statement.setLong(4, grace.toMillis());
            statement.setBoolean(5, settings);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Long nextLease = row.getObject("next_lease_ms", Long.class);
                return new Poll(new Due(row.getBoolean("ready"), row.getBoolean("lapsed") || row.getBoolean("late"),
                        row.getBoolean("timers"), row.getBoolean("turns"), row.getBoolean("schedules"),
                        row.getBoolean("webhooks"), row.getBoolean("commands"), row.getBoolean("events"),
                        row.getBoolean("went_back"),
                        nextLease == null ? null : Duration.ofMillis(nextLease), row.getString("settings")),
                        Rows.time(row, "floor"), row.getLong("blocks"));
            }
        }
    }

    /** Notes that a search from the beginning has found no unclaimed row, which needs no survey. Returns whether there are any. */
    private boolean empty(Poll poll, long began) {
        floors.surveyed(List.of(), poll.floor, poll.blocks, began, nanoTime.getAsLong());
        return false;
    }

    /** Notes the floors of all queues, and returns whether there are any. */
    private boolean survey(Connection c, long blocksOfPoll, long began) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(SURVEY)) {
            clock.bind(statement, 1);
            statement.setInt(2, QueueFloors.MAX_QUEUES + 1);
            List<Floor> found = new ArrayList<>();
            Instant empty = Instant.MIN;
            long blocks = blocksOfPoll;
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    if (row.getString("tool") == null) {
                        empty = Rows.time(row, "floor");
                        blocks += row.getLong("blocks");
                    } else {
                        found.add(floor(row));
                    }
                }
            }
            floors.surveyed(found, empty, blocks, began, nanoTime.getAsLong());
            return !found.isEmpty();
        }
    }

    /** Raises the floors, and returns whether a known queue has an unclaimed row. */
    private boolean advance(Connection c) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ADVANCE)) {
            clock.bind(statement, 1);
            QueueSearch.bind(statement, 2, floors.floors());
            List<Floor> found = new ArrayList<>();
            Set<Queue> ready = new HashSet<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    Floor floor = floor(row);
                    found.add(floor);
                    if (row.getBoolean("ready")) {
                        ready.add(floor.queue());
                    }
                }
            }
            floors.advanced(found, ready, nanoTime.getAsLong());
            return !ready.isEmpty();
        }
    }

    private static Floor floor(ResultSet row) throws SQLException {
        return new Floor(new Queue(ViewLoader.uuid(row, "workspace_id"), row.getString("tool"), row.getString("model"),
                row.getInt("priority")), Rows.time(row, "floor"));
    }

    Sweep stuckJoins(Connection c, Place after, int limit) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(STUCK_JOINS)) {
            clock.bind(statement, 1);
            statement.setObject(2, after.workspaceId());
            statement.setObject(3, after.runId());
            statement.setInt(4, limit);
            List<UUID> stuck = new ArrayList<>();
            Place last = Place.FIRST;
            int seen = 0;
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    seen++;
                    last = new Place(ViewLoader.uuid(row, "workspace_id"), ViewLoader.uuid(row, "id"));
                    if (row.getBoolean("stuck")) {
                        stuck.add(last.runId());
                    }
                }
            }
            return new Sweep(stuck, seen < limit ? Place.FIRST : last);
        }
    }
}
