package io.keelson.server.run;

import io.keelson.server.db.DbClock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;

/**
 * How much is open in the whole installation, whoever it belongs to.
 *
 * @param waiting lanes in the queue that nobody has claimed
 * @param leased lanes in the queue that somebody works on
 * @param oldestSeconds how long the one that waits longest has waited; 0 when none does
 * @param runs runs that have not ended, by state
 * @param oldestRuns seconds for which the run of a state that came into it first has been in it
 * @param tickets escalation tickets that nobody has answered
 * @param workers remote workers heard of within a minute
 * @param nodes servers heard of within a minute
 * @param outages times on record without any server
 * @param reserved credits set aside for runs
 */
public record Backlog(long waiting, long leased, double oldestSeconds, Map<String, Long> runs,
        Map<String, Double> oldestRuns,
        long tickets,
        long workers, long nodes, long outages, double reserved) {

    /** No count goes further: whoever has more open needs no exact number, and the question stays cheap. */
    public static final int MOST_COUNTED = 100_000;

    /** By indexes; the age goes from head to head of the queue, one per workspace, tool and priority. */
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
                   (select count(*) from workers where last_seen_at >= clock.now - interval '1 minute') as workers,
                   (select count(*) from engine_nodes
                     where left_at is null and last_seen_at >= clock.now - interval '1 minute') as nodes,
                   (select count(*) from engine_outages) as outages,
                   (select coalesce(sum(reserved), 0)::float8 from credit_balances) as reserved
              from clock""".replace("{now}", DbClock.SQL).replace("{most}", Integer.toString(MOST_COUNTED));

    private static final String RUNS = """
            select state, count(*), greatest(0, extract(epoch from {now} - min(since))) from (
                select state, coalesce(state_since, created_at) as since from orchestration_runs
                 where state_type <> 'terminal' limit {most}) open
             group by state""".replace("{now}", DbClock.SQL).replace("{most}", Integer.toString(MOST_COUNTED));

    public Backlog {
        runs = Map.copyOf(runs);
        oldestRuns = Map.copyOf(oldestRuns);
    }

    /** Asks the database: two statements. */
    public static Backlog read(Connection connection, DbClock clock) throws SQLException {
        Map<String, Long> runs = new TreeMap<>();
        Map<String, Double> oldestRuns = new TreeMap<>();
        try (PreparedStatement statement = connection.prepareStatement(RUNS)) {
            clock.bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    runs.put(row.getString(1), row.getLong(2));
                    oldestRuns.put(row.getString(1), row.getDouble(3));
                }
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(READ)) {
            clock.bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Backlog(row.getLong("waiting"), row.getLong("leased"), row.getDouble("oldest"), runs,
                        oldestRuns, row.getLong("tickets"), row.getLong("workers"), row.getLong("nodes"),
                        row.getLong("outages"),
                        row.getDouble("reserved"));
            }
        }
    }
}
