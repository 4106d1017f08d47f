package io.keelson.server.engine.store.queue;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.read.InboxReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Open work in the whole installation, of all workspaces.
 *
 * @param waiting unclaimed lanes in the queue
 * @param leased claimed lanes in the queue
 * @param unserved unclaimed lanes for versions without a worker seen within a minute
 * @param oldestSeconds wait of the oldest unclaimed lane; 0 without one
 * @param runs runs that have not ended, by state
 * @param oldestRuns seconds that a run of the state has been in it, at most
 * @param oldestActive seconds that a run has been at work in its attempt, at most; waits do not count
 * @param inbox items that wait for a person, by kind
 * @param oldestInbox wait of the oldest of a kind, in seconds
 * @param tickets open escalation tickets
 * @param workers remote workers seen within a minute
 * @param nodes servers seen within a minute
 * @param outages recorded times without any server
 * @param reserved credits reserved for runs
 */
public record Backlog(long waiting, long leased, long unserved, double oldestSeconds, Map<String, Long> runs,
        Map<String, Double> oldestRuns, double oldestActive, Map<String, Long> inbox, Map<String, Double> oldestInbox,
        long tickets, long workers, long nodes, long outages, double reserved) {

    /** Upper bound of counts, which keeps the query cheap. */
    public static final int MAX_COUNTED = 100_000;

    /** By indexes; the age comes from the heads of the queue, one per workspace, tool and priority. */
    private static final String READ = """
            with recursive clock as materialized (select {now} as now),
            heads (workspace_id, tool, priority, queued_at) as (
                (select workspace_id, tool, priority, queued_at from work_queue where holder is null
                  order by workspace_id, tool, priority, queued_at limit 1)
                union all
                select next.* from heads h cross join lateral (
                    select q.workspace_id, q.tool, q.priority, q.queued_at from work_queue q
                     where q.holder is null
                       and (q.workspace_id, q.tool, q.priority) > (h.workspace_id, h.tool, h.priority)
                     order by q.workspace_id, q.tool, q.priority, q.queued_at limit 1) next)
            select (select count(*) from (select from work_queue where holder is null limit {most}) w) as waiting,
                   (select count(*) from (select from work_queue where holder is not null limit {most}) l) as leased,
                   (select greatest(0, extract(epoch from clock.now - min(queued_at))) from heads) as oldest,
                   (select count(*) from (select from escalation_tickets where resolution is null limit {most}) t)
                       as tickets,
                   (select coalesce(sum(v.lanes), 0) from (
                        select q.workspace_id, q.tool, q.version, count(*) as lanes from (
                            select w.workspace_id, w.tool, case when left(w.lot, 1) = '=' then substr(w.lot, 2)
                                    when w.lot::integer < t.percent then t.ramping else t.current end as version
                              from work_queue w
                              join tool_versions t on t.workspace_id = w.workspace_id and t.tool = w.tool
                             where w.holder is null and w.lot is not null limit {most}) q
                         group by 1, 2, 3) v
                     where not exists (select from workers k
                        where k.workspace_id = v.workspace_id and v.tool = any (k.tools) and not k.draining and k.slots > 0
                          and coalesce(k.version, 'unversioned') = v.version
                          and k.last_seen_at >= clock.now - interval '1 minute')) as unserved,
                   (select count(*) from workers where slots > 0 and last_seen_at >= clock.now - interval '1 minute') as workers,
                   (select count(*) from engine_nodes
                     where left_at is null and last_seen_at >= clock.now - interval '1 minute') as nodes,
                   (select count(*) from engine_outages) as outages,
                   (select coalesce(sum(reserved), 0)::float8 from credit_balances) as reserved
              from clock""".replace("{now}", DbClock.SQL).replace("{most}", Integer.toString(MAX_COUNTED));

    private static final String RUNS = """
            select state, count(*), greatest(0, extract(epoch from {now} - min(since))) from (
                select state, coalesce(state_since, created_at) as since from orchestration_runs
                 where state_type <> 'terminal' limit {most}) open
             group by state""".replace("{now}", DbClock.SQL).replace("{most}", Integer.toString(MAX_COUNTED));

    /** Without the times in which a run only waits for people, times, signals or children. */
    private static final String ACTIVE = """
            select coalesce(max(active_ms / 1000.0 + greatest(0, extract(epoch from {now} - active_since))), 0)::float8
              from (select active_ms, active_since from orchestration_runs
                     where state_type <> 'terminal' limit {most}) open
             where active_since is not null""".replace("{now}", DbClock.SQL).replace("{most}",
            Integer.toString(MAX_COUNTED));

    /** The kinds of {@link InboxReader}. */
    public static final List<String> INBOX_KINDS = List.of("plan_approval", "result_acceptance", "approval_step",
            "call_approval", "question", "elicitation", "task_review", "escalation", "budget", "proposal",
            "tool_change", "dead_letter");

    private static final String INBOX = """
            select kind, count(*), greatest(0, extract(epoch from {now} - min(asked_at)))
              from (select kind, asked_at from inbox_questions
                     where expires_at is null or expires_at > {now} limit {most}) open
             group by kind""".replace("{now}", DbClock.SQL).replace("{most}", Integer.toString(MAX_COUNTED));

    public Backlog {
        inbox = Map.copyOf(inbox);
        oldestInbox = Map.copyOf(oldestInbox);
        runs = Map.copyOf(runs);
        oldestRuns = Map.copyOf(oldestRuns);
    }

    /** Reads it in four statements. */
    public static Backlog read(Connection connection, DbClock clock) throws SQLException {
        Map<String, Long> runs = new TreeMap<>();
        Map<String, Double> oldestRuns = new TreeMap<>();
        count(connection, clock, RUNS, 1, runs, oldestRuns);
        Map<String, Long> inbox = new TreeMap<>();
        Map<String, Double> oldestInbox = new TreeMap<>();
        count(connection, clock, INBOX, 2, inbox, oldestInbox);
        double oldestActive;
        try (PreparedStatement statement = connection.prepareStatement(ACTIVE)) {
            clock.bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                oldestActive = row.getDouble(1);
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(READ)) {
            clock.bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Backlog(row.getLong("waiting"), row.getLong("leased"), row.getLong("unserved"),
                        row.getDouble("oldest"), runs,
                        oldestRuns, oldestActive, inbox, oldestInbox, row.getLong("tickets"), row.getLong("workers"),
                        row.getLong("nodes"), row.getLong("outages"), row.getDouble("reserved"));
            }
        }
    }

    /** @param times number of time parameters */
    private static void count(Connection connection, DbClock clock, String sql, int times, Map<String, Long> counts,
            Map<String, Double> ages) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 1; i <= times; i++) {
                clock.bind(statement, i);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    counts.put(row.getString(1), row.getLong(2));
                    ages.put(row.getString(1), row.getDouble(3));
                }
            }
        }
    }
}
