package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.QueueFloors.Extent;
import io.keelson.server.engine.store.QueueFloors.Floor;
import io.keelson.server.engine.store.QueueFloors.Queue;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Due;
import io.keelson.server.engine.store.RunStore.Place;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.RunStore.Sweep;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.Column;
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
import java.util.Objects;
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

    /**
     * The head of each workspace's, tool's and model's range of the index, found by skipping from range to range: the
     * cost depends on the number of ranges, not on the rows in them. The text in braces belongs to a search by agent as well.
     */
    private static final String HEADS = """
            with recursive heads (workspace_id, tool, model, {agent, }priority, queued_at) as (
                (select workspace_id, tool, model, {agent, }priority, queued_at from work_queue where holder is null
                  order by workspace_id, tool, model, {agent, }priority, queued_at limit 1)
                union all
                select next.* from heads h cross join lateral (
                    select q.workspace_id, q.tool, q.model, {q.agent, }q.priority, q.queued_at from work_queue q
                     where q.holder is null
                       and (q.workspace_id, q.tool, q.model{, q.agent})
                            > (h.workspace_id, h.tool, h.model{, h.agent})
                     order by q.workspace_id, q.tool, q.model, {q.agent, }q.priority, q.queued_at limit 1) next),""";

    /** The heads of the known queues, each from its floor on. */
    private static final String HEADS_FROM_FLOORS = """
            with heads as materialized (
                select k.workspace_id, k.tool, k.model, k.priority, first.queued_at
                  from unnest(?::uuid[], ?::text[], ?::text[], ?::int4[], ?::timestamptz[])
                        as k (workspace_id, tool, model, priority, floor)
                 cross join lateral (
                    select q.queued_at from work_queue q
                     where q.holder is null and q.workspace_id = k.workspace_id and q.tool = k.tool and q.model = k.model
                       and q.priority = k.priority and q.queued_at >= k.floor
                     order by q.queued_at limit 1) first),""";

    /** {@link #HEADS} for one workspace and the given tools. */
    private static final String HEADS_IN_ONE = """
            with recursive heads (workspace_id, tool, model, {agent, }priority, queued_at) as (
                select first.* from unnest(?::text[]) as t (tool) cross join lateral (
                    select q.workspace_id, q.tool, q.model, {q.agent, }q.priority, q.queued_at from work_queue q
                     where q.holder is null and q.workspace_id = ? and q.tool = t.tool
                     order by q.model, {q.agent, }q.priority, q.queued_at limit 1) first
                union all
                select next.* from heads h cross join lateral (
                    select q.workspace_id, q.tool, q.model, {q.agent, }q.priority, q.queued_at from work_queue q
                     where q.holder is null and q.workspace_id = h.workspace_id and q.tool = h.tool
                       and (q.model{, q.agent}) > (h.model{, h.agent})
                     order by q.model, {q.agent, }q.priority, q.queued_at limit 1) next),""";

    /**
     * Work with the lowest priority number: workspaces in turn, after the last served workspace, and from each up to a
     * fair share.
     */
    private static final String FIRST_LEVEL = """

            served as materialized (
                select h.* from heads h
                 where h.tool = any (?::text[]) and not exists (
                    select from unnest(?::uuid[], ?::text[], ?::text[], ?::text[]) as f (id, tool, model, agent)
                     where f.id = h.workspace_id and coalesce(f.tool, h.tool) = h.tool
                       and coalesce(f.model, h.model) = h.model{ and coalesce(f.agent, h.agent) = h.agent})),
            level as materialized (
                select s.*, dense_rank() over (order by (s.workspace_id <= t.last) is true, s.workspace_id) as place
                  from served s left join unnest(?::int4[], ?::uuid[]) as t (priority, last) on t.priority = s.priority
                 where s.priority = (select min(priority) from served)),
            ready as (
                select q.*, l.place, row_number() over (partition by q.workspace_id
                    order by q.queued_at, q.task_id, q.lane) as turn
                  from level l cross join lateral (
                    select workspace_id, run_id, task_id, lane, tool, model, agent, priority, queued_at from work_queue
                     where holder is null and workspace_id = l.workspace_id and tool = l.tool and model = l.model{
                       and agent = l.agent}
                       and priority = l.priority and queued_at >= l.queued_at
                     order by queued_at
                     limit (select ceil(?::float8 / max(place)) from level)) q
                 where l.place <= ?)
            select run_id, task_id, lane, tool, model, agent, workspace_id, priority from ready
             order by turn, place, queued_at, task_id, lane
             limit ?""";

    /** The heads of tools without a rule about versions, and of the lots of tools with one. */
    private static final String HEADS_WITH_LOTS = HEADS_IN_ONE + """

            lot_heads (tool, lot, model, priority, queued_at) as (
                select first.* from unnest(?::text[], ?::text[]) as t (tool, lot) cross join lateral (
                    select q.tool, q.lot, q.model, q.priority, q.queued_at from work_queue q
                     where q.holder is null and q.lot is not null and q.workspace_id = ? and q.tool = t.tool
                       and q.lot = t.lot and q.agent <> all (?::text[])
                     order by q.model, q.priority, q.queued_at limit 1) first
                union all
                select next.* from lot_heads h cross join lateral (
                    select q.tool, q.lot, q.model, q.priority, q.queued_at from work_queue q
                     where q.holder is null and q.lot is not null and q.workspace_id = ? and q.tool = h.tool
                       and q.lot = h.lot and q.model > h.model and q.agent <> all (?::text[])
                     order by q.model, q.priority, q.queued_at limit 1) next),
            all_heads as (
                select workspace_id, tool, null as lot, model, {agent, }priority, queued_at from heads
                union all
                select ?::uuid, tool, lot, model, {'', }priority, queued_at from lot_heads),""";

    /**
     * {@link #FIRST_LEVEL} of one workspace, whose lots are read by their own index. The oldest work is in the lots with the oldest
     * heads, so no more lots are read than work is wanted.
     */
    private static final String FIRST_LEVEL_WITH_LOTS = """

            served as materialized (
                select h.* from all_heads h
                 where not exists (
                    select from unnest(?::uuid[], ?::text[], ?::text[], ?::text[]) as f (id, tool, model, agent)
                     where f.id = h.workspace_id and coalesce(f.tool, h.tool) = h.tool
                       and coalesce(f.model, h.model) = h.model{ and coalesce(f.agent, h.agent) = h.agent})),
            level as materialized (
                select * from served where priority = (select min(priority) from served)),
            ready as (
                select q.* from (select * from level where lot is null) l cross join lateral (
                    select workspace_id, run_id, task_id, lane, tool, model, agent, priority, queued_at from work_queue
                     where holder is null and workspace_id = l.workspace_id and tool = l.tool and model = l.model{
                       and agent = l.agent}
                       and priority = l.priority and queued_at >= l.queued_at
                     order by queued_at limit ?) q
                union all
                select q.* from (
                    select * from level where lot is not null order by queued_at limit ?) l cross join lateral (
                    select workspace_id, run_id, task_id, lane, tool, model, agent, priority, queued_at from work_queue
                     where holder is null and lot is not null and workspace_id = l.workspace_id and tool = l.tool
                       and lot = l.lot and model = l.model and priority = l.priority and queued_at >= l.queued_at
                       and agent <> all (?::text[])
                     order by queued_at limit ?) q)
            select run_id, task_id, lane, tool, model, agent, workspace_id, priority from ready
             order by queued_at, task_id, lane
             limit ?""";

    private static final String CANDIDATES_FROM_FLOORS = byModel(HEADS_FROM_FLOORS + FIRST_LEVEL);

    /** The lots of known queues, each from the floor of its queue on. */
    private static final String LOTS_FROM_FLOORS = byModel(HEADS_FROM_FLOORS + """

            all_heads as materialized (
                select workspace_id, tool, null as lot, model, priority, queued_at from heads
                union all
                select k.workspace_id, k.tool, t.lot, k.model, k.priority, first.queued_at
                  from unnest(?::uuid[], ?::text[], ?::text[], ?::int4[], ?::timestamptz[])
                        as k (workspace_id, tool, model, priority, floor)
                  join unnest(?::text[], ?::text[]) as t (tool, lot) on t.tool = k.tool
                 cross join lateral (
                    select q.queued_at from work_queue q
                     where q.holder is null and q.lot is not null and q.workspace_id = k.workspace_id
                       and q.tool = k.tool and q.lot = t.lot and q.model = k.model and q.priority = k.priority
                       and q.queued_at >= k.floor
                     order by q.queued_at limit 1) first),""" + FIRST_LEVEL_WITH_LOTS);

    private static final Ranges CANDIDATES = new Ranges(HEADS + FIRST_LEVEL);
    private static final Ranges CANDIDATES_IN_ONE = new Ranges(HEADS_IN_ONE + FIRST_LEVEL);
    private static final Ranges CANDIDATES_WITH_LOTS = new Ranges(HEADS_WITH_LOTS + FIRST_LEVEL_WITH_LOTS);

    /**
     * A search of the queue.
     *
     * @param byModel in ranges of workspace, tool and model
     * @param byAgent in ranges of workspace, tool, model and agent, so that the work of agents at their limit is not read. Lots have no
     *            such ranges, and all their work may be read.
     */
    private record Ranges(String byModel, String byAgent) {
        Ranges(String text) {
            this(DueWork.byModel(text), text.replace("{", "").replace("}", ""));
        }

        String by(List<WorkLimits.Full> full) {
            return full.stream().anyMatch(each -> each.agent() != null) ? byAgent : byModel;
        }
    }

    private static String byModel(String text) {
        return text.replaceAll("\\{[^}]*}", "");
    }

    /** Claimable work among the given items. */
    private static final String CANDIDATES_OF = """
            select q.run_id, q.task_id, q.lane, q.tool, q.model, q.agent, q.workspace_id, q.priority
              from unnest(?::uuid[], ?::int4[]) as u (task_id, lane)
              join work_queue q on q.task_id = any (array[u.task_id]) and q.lane = u.lane
             where q.holder is null and q.workspace_id = ? and q.tool = any (?::text[])
               and (q.lot is null or q.tool <> all (?::text[])
                    or exists (select from unnest(?::text[], ?::text[]) as l (tool, lot)
                        where l.tool = q.tool and l.lot = q.lot))
             order by q.priority, q.queued_at, q.task_id, q.lane""";

    private static final String WAITING = """
            select q.task_id, q.lane from unnest(?::uuid[], ?::integer[]) as u (task_id, lane)
              join work_queue q on q.task_id = any (array[u.task_id]) and q.lane = u.lane
             where q.holder is null""";

    /** Blocks of the queue that this session has read and not reported, for differences within a statement. */
    private static final String BLOCKS = """
            (pg_stat_get_xact_blocks_fetched('work_queue'::regclass)
                + pg_stat_get_xact_blocks_fetched('ix_work_queue_turn'::regclass)
                + pg_stat_get_xact_blocks_fetched('ix_work_queue_lease'::regclass)
                + pg_stat_get_xact_blocks_fetched('ix_work_queue_deadline'::regclass))""";

    /** Without the search for unclaimed rows if those are found otherwise; of recent due times if floors bound the poll. */
    private static final String DUE = """
            with clock as materialized (
                select now, case when bounded then now - {recent} else timestamptz '-infinity' end as since, searches, blocks
                  from (select {now} as now, ?::boolean as bounded, ?::boolean as searches, {blocks} as blocks) c)
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
                   {blocks} - blocks as blocks
              from clock""".replace("{now}", DbClock.SQL).replace("{blocks}", BLOCKS).replace("{recent}", RECENT);

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
    private final QueueFloors floors = new QueueFloors();

    /** @param nanoTime monotonic time */
    DueWork(DbClock clock, LongSupplier nanoTime) {
        this.clock = clock;
        this.nanoTime = nanoTime;
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

    List<Candidate> candidates(Connection c, Search search, List<WorkLimits.Full> full, VersionRules.Lots lots)
            throws SQLException {
        UUID workspace = search.workspaceId();
        if (workspace != null && !lots.tools().isEmpty()) {
            return withLots(c, search, workspace, full, lots);
        }
        boolean bounded = floors.bounded() && agents(full).isEmpty();
        try (PreparedStatement statement = c.prepareStatement(bounded ? CANDIDATES_FROM_FLOORS
                : (workspace == null ? CANDIDATES : CANDIDATES_IN_ONE).by(full))) {
            int p = 1;
            if (bounded) {
                p = bind(statement, p, floors.floors(workspace, search.tools()));
            } else if (workspace != null) {
                BinaryParameter.bindTexts(statement, p++, search.tools());
                statement.setObject(p++, workspace);
            }
            BinaryParameter.bindTexts(statement, p++, search.tools());
            p = bindFull(statement, p, full);
            BinaryParameter.bind(statement, p++, search.workspaceRoundRobin().priorities(), Column.Element.INT4);
            BinaryParameter.bindIds(statement, p++, search.workspaceRoundRobin().workspaces());
            statement.setInt(p++, search.limit());
            statement.setInt(p++, search.limit());
            statement.setInt(p, search.limit());
            return candidates(statement);
        }
    }

    private static List<String> agents(List<WorkLimits.Full> full) {
        return full.stream().map(WorkLimits.Full::agent).filter(Objects::nonNull).toList();
    }

    private static int bindFull(PreparedStatement statement, int first, List<WorkLimits.Full> full)
            throws SQLException {
        int p = first;
        BinaryParameter.bindIds(statement, p++, full.stream().map(WorkLimits.Full::workspaceId).toList());
        BinaryParameter.bind(statement, p++, full.stream().map(WorkLimits.Full::tool).toList(), Column.Element.TEXT);
        BinaryParameter.bind(statement, p++, full.stream().map(WorkLimits.Full::model).toList(), Column.Element.TEXT);
        BinaryParameter.bind(statement, p++, full.stream().map(WorkLimits.Full::agent).toList(), Column.Element.TEXT);
        return p;
    }

    private List<Candidate> withLots(Connection c, Search search, UUID workspace, List<WorkLimits.Full> full,
            VersionRules.Lots lots) throws SQLException {
        List<String> agents = agents(full);
        boolean bounded = floors.bounded() && agents.isEmpty();
        try (PreparedStatement statement =
                c.prepareStatement(bounded ? LOTS_FROM_FLOORS : CANDIDATES_WITH_LOTS.by(full))) {
            Set<String> ruled = new HashSet<>(lots.tools());
            List<String> others = search.tools().stream().filter(tool -> !ruled.contains(tool)).toList();
            int p = 1;
            if (bounded) {
                p = bind(statement, p, floors.floors(workspace, others));
                p = bind(statement, p, floors.floors(workspace, ruled));
            } else {
                BinaryParameter.bindTexts(statement, p++, others);
                statement.setObject(p++, workspace);
            }
            BinaryParameter.bindTexts(statement, p++, lots.tools());
            BinaryParameter.bindTexts(statement, p++, lots.lots());
            if (!bounded) {
                statement.setObject(p++, workspace);
                BinaryParameter.bindTexts(statement, p++, agents);
                statement.setObject(p++, workspace);
                BinaryParameter.bindTexts(statement, p++, agents);
                statement.setObject(p++, workspace);
            }
            p = bindFull(statement, p, full);
            statement.setInt(p++, search.limit());
            statement.setInt(p++, search.limit());
            BinaryParameter.bindTexts(statement, p++, agents);
            statement.setInt(p++, search.limit());
            statement.setInt(p, search.limit());
            return candidates(statement);
        }
    }

    List<Candidate> candidates(Connection c, UUID workspace, Collection<String> tools, Collection<Lane> items,
            VersionRules.Lots lots) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(CANDIDATES_OF)) {
            BinaryParameter.bindIds(statement, 1, items.stream().map(Lane::taskId).toList());
            BinaryParameter.bind(statement, 2, items.stream().map(Lane::lane).toList(), Column.Element.INT4);
            statement.setObject(3, workspace);
            BinaryParameter.bindTexts(statement, 4, tools);
            BinaryParameter.bindTexts(statement, 5, lots.tools());
            BinaryParameter.bindTexts(statement, 6, lots.tools());
            BinaryParameter.bindTexts(statement, 7, lots.lots());
            return candidates(statement);
        }
    }

    /** The candidates that still wait, in their order. */
    List<Candidate> waiting(Connection c, List<Candidate> candidates) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(WAITING)) {
            BinaryParameter.bindIds(statement, 1, candidates.stream().map(Candidate::taskId).toList());
            BinaryParameter.bind(statement, 2, candidates.stream().map(Candidate::lane).toList(), Column.Element.INT4);
            Set<Lane> waiting = new HashSet<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    waiting.add(new Lane(ViewLoader.uuid(row, "task_id"), row.getInt("lane")));
                }
            }
            return candidates.stream().filter(each -> waiting.contains(new Lane(each.taskId(), each.lane()))).toList();
        }
    }

    private static List<Candidate> candidates(PreparedStatement statement) throws SQLException {
        List<Candidate> found = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(new Candidate(ViewLoader.uuid(row, "run_id"), ViewLoader.uuid(row, "task_id"),
                        row.getInt("lane"), row.getString("tool"), row.getString("model"),
                        row.getString("agent"), ViewLoader.uuid(row, "workspace_id"), row.getInt("priority")));
            }
        }
        return found;
    }

    private static int bind(PreparedStatement statement, int first, List<Floor> of) throws SQLException {
        List<Queue> queues = of.stream().map(Floor::queue).toList();
        int p = first;
        BinaryParameter.bindIds(statement, p++, queues.stream().map(Queue::workspaceId).toList());
        BinaryParameter.bindTexts(statement, p++, queues.stream().map(Queue::tool).toList());
        BinaryParameter.bindTexts(statement, p++, queues.stream().map(Queue::model).toList());
        BinaryParameter.bind(statement, p++, queues.stream().map(Queue::priority).toList(), Column.Element.INT4);
        BinaryParameter.bind(statement, p++, of.stream().map(Floor::from).toList(), Column.Element.TIMESTAMPTZ);
        return p;
    }

    /** The work that is due. If polls are dear, most of them read the queue from its floors on, and recent due times. */
    Due due(Connection c, Duration grace) throws SQLException {
        long began = nanoTime.getAsLong();
        Extent extent = floors.begin(began);
        try {
            Poll poll = poll(c, grace, extent);
            return switch (extent) {
                case WHOLE -> poll.due;
                case SURVEY -> poll.due.withReady(survey(c, poll.blocks, began));
                case BOUNDED -> poll.due.withReady(advance(c));
            };
        } finally {
            floors.end(extent);
        }
    }

    /** @param blocks of the queue that it has read */
    private record Poll(Due due, long blocks) {}

    /** An empty subquery gives null, which reads as false. */
    private Poll poll(Connection c, Duration grace, Extent extent) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DUE)) {
            clock.bind(statement, 1);
            statement.setBoolean(2, extent == Extent.BOUNDED);
            statement.setBoolean(3, extent == Extent.WHOLE);
            statement.setLong(4, grace.toMillis());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Long nextLease = row.getObject("next_lease_ms", Long.class);
                return new Poll(new Due(row.getBoolean("ready"), row.getBoolean("lapsed") || row.getBoolean("late"),
                        row.getBoolean("timers"), row.getBoolean("turns"), row.getBoolean("schedules"),
                        row.getBoolean("webhooks"), row.getBoolean("commands"), row.getBoolean("events"),
                        row.getBoolean("went_back"),
                        nextLease == null ? null : Duration.ofMillis(nextLease)), row.getLong("blocks"));
            }
        }
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
            bind(statement, 2, floors.floors());
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
