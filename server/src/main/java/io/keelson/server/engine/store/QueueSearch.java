package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.server.engine.store.QueueFloors.Floor;
import io.keelson.server.engine.store.QueueFloors.Queue;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Search;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * Searches the queue for claimable work by index, at any number of rows. Takes no locks. While polls are dear, searches begin at the floors
 * of queues ({@link QueueFloors}).
 */
final class QueueSearch {

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
            this(QueueSearch.byModel(text), text.replace("{", "").replace("}", ""));
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

    private final QueueFloors floors;

    QueueSearch(QueueFloors floors) {
        this.floors = floors;
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

    /** Binds five parameters; returns the number of the next one. */
    static int bind(PreparedStatement statement, int first, List<Floor> of) throws SQLException {
        List<Queue> queues = of.stream().map(Floor::queue).toList();
        int p = first;
        BinaryParameter.bindIds(statement, p++, queues.stream().map(Queue::workspaceId).toList());
        BinaryParameter.bindTexts(statement, p++, queues.stream().map(Queue::tool).toList());
        BinaryParameter.bindTexts(statement, p++, queues.stream().map(Queue::model).toList());
        BinaryParameter.bind(statement, p++, queues.stream().map(Queue::priority).toList(), Column.Element.INT4);
        BinaryParameter.bind(statement, p++, of.stream().map(Floor::from).toList(), Column.Element.TIMESTAMPTZ);
        return p;
    }
}
