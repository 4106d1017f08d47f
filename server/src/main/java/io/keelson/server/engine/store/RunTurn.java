package io.keelson.server.engine.store;

import io.keelson.core.policy.Rate;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run whose turn has come under its concurrency key, but for the rate of the key.
 *
 * @param rate of the runs that begin; null without one
 * @param until the state of the rate; null if it has admitted none lately
 */
public record RunTurn(UUID run, Key key, @Nullable Rate rate, @Nullable Instant until, Instant now) {

    private static final Duration MIN_WAIT = Duration.ofMillis(5);

    private static final Sql ADMIT = Sql.of("""
            insert into work_rates (workspace_id, name, admitted_until) values (:workspace, :name, :until)
            on conflict (workspace_id, name) do update set admitted_until = excluded.admitted_until""");

    /** A rate that has admitted none lately needs no row. */
    private static final Sql FORGET =
            Sql.of("""
            delete from work_rates where name like 'runs:%' and admitted_until < clock_timestamp() - interval '1 minute'""");

    /** The times before which pending runs do not begin, by the rate of their concurrency key and those before them. */
    private static final Sql NEXT = Sql.of("""
            select r.id, date_trunc('second', n.next_at + interval '999999 microseconds') as next_at
              from orchestration_runs r
              join work_rates b on b.workspace_id = r.workspace_id and b.name = 'runs:' || (r.policy #>> '{concurrency,key}')
             cross join lateral (
                select count(*) as ahead from orchestration_runs o
                 where o.workspace_id = r.workspace_id and o.policy #>> '{concurrency,key}' = r.policy #>> '{concurrency,key}'
                   and o.policy #>> '{concurrency,key}' is not null and o.state_type <> 'terminal' and o.state = 'pending'
                   and (o.priority, o.state_since, o.id) < (r.priority, r.state_since, r.id)) o
             cross join lateral (
                select b.admitted_until - interval '500 milliseconds'
                    + o.ahead * (r.policy #>> '{concurrency,rate,period_seconds}')::bigint * interval '1 second'
                        / (r.policy #>> '{concurrency,rate,limit}')::bigint as next_at) n
             where r.id = any (:runs) and r.state = 'pending' and r.policy #>> '{concurrency,rate,limit}' is not null
               and n.next_at > clock_timestamp()""");

    /** One node checks at a time; others need not. */
    private static final String TURN = """
            select pg_try_advisory_xact_lock(hashtextextended('keelson concurrency keys', 0))""";

    /**
     * Runs that may be admitted under their concurrency key: running and earlier runs leave capacity. Running runs are
     * counted by state alone. Reads all open runs with a key. Of runs with a rate, as many as it may admit at once, after the others.
     */
    private static final String ADMISSIBLE = """
            with open as materialized (
                select id, workspace_id, policy #>> '{concurrency,key}' as key,
                    (policy #>> '{concurrency,limit}')::integer as most,
                    (policy #>> '{concurrency,rate,limit}')::bigint as rate_limit,
                    (policy #>> '{concurrency,rate,period_seconds}')::bigint as rate_seconds,
                    state = 'pending' as waits, priority, state_since
                  from orchestration_runs
                 where policy #>> '{concurrency,key}' is not null and state_type <> 'terminal'
                   and (state not in ('created', 'retrying')) is true),
            busy as (
                select workspace_id, key, count(*) as runs from open where not waits group by workspace_id, key),
            waiting as (
                select o.*, row_number() over (partition by workspace_id, key order by priority, state_since, id) as place
                  from open o where waits)
            select w.id, w.workspace_id, w.key, w.rate_limit, w.rate_seconds, r.admitted_until, clock_timestamp() as now
              from waiting w left join busy b on b.workspace_id = w.workspace_id and b.key = w.key
              left join work_rates r on r.workspace_id = w.workspace_id and r.name = 'runs:' || w.key
             where coalesce(b.runs, 0) + w.place <= w.most
               and (w.rate_limit is null or w.place <= 1 + w.rate_limit / (2 * w.rate_seconds))
             order by w.rate_limit is not null and r.admitted_until > clock_timestamp() + interval '500 milliseconds',
                w.priority, w.state_since, w.id
             limit ?""";

    /** A concurrency key of a workspace. */
    public record Key(UUID workspaceId, String name) {}

    /**
     * Runs that rates admit.
     *
     * @param rates the new states of their rates
     * @param next the time until a rate may admit a further run; null without a rate
     */
    public record Admitted(List<UUID> runs, Map<Key, Instant> rates, @Nullable Duration next) {}

    /** Runs whose turn has come but for their rates; none while another node checks. */
    static List<RunTurn> admissible(Connection c, int limit) throws SQLException {
        try (PreparedStatement turn = c.prepareStatement(TURN); ResultSet row = turn.executeQuery()) {
            row.next();
            if (!row.getBoolean(1)) {
                return List.of();
            }
        }
        try (PreparedStatement statement = c.prepareStatement(ADMISSIBLE)) {
            statement.setInt(1, limit);
            List<RunTurn> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(of(row));
                }
            }
            return found;
        }
    }

    private static RunTurn of(ResultSet row) throws SQLException {
        long limit = row.getLong("rate_limit");
        Rate rate = row.wasNull() ? null : new Rate(limit, row.getLong("rate_seconds"));
        return new RunTurn(ViewLoader.uuid(row, "id"),
                new Key(ViewLoader.uuid(row, "workspace_id"), row.getString("key")), rate,
                row.getObject("admitted_until") == null ? null : Rows.time(row, "admitted_until"),
                Rows.time(row, "now"));
    }

    /** Applies the rates, in the given order. */
    public static Admitted admit(List<RunTurn> turns) {
        List<UUID> runs = new ArrayList<>();
        Map<Key, Instant> rates = new HashMap<>();
        Duration next = null;
        for (RunTurn each : turns) {
            Rate rate = each.rate;
            if (rate == null) {
                runs.add(each.run);
                continue;
            }
            Instant until = rates.getOrDefault(each.key, each.until);
            if (rate.available(until, each.now) > 0) {
                runs.add(each.run);
                until = rate.after(until, each.now, 1);
                rates.put(each.key, until);
            }
            Duration wait = Duration.between(each.now, Objects.requireNonNull(rate.next(until, each.now)));
            Duration later = wait.compareTo(MIN_WAIT) < 0 ? MIN_WAIT : wait;
            next = next == null || later.compareTo(next) < 0 ? later : next;
        }
        return new Admitted(runs, rates, next);
    }

    /** The times before which these runs do not begin, by rates and the runs before them; without runs whose turn may come now. */
    public static Map<UUID, Instant> next(Connection c, List<UUID> runs) throws SQLException {
        Map<UUID, Instant> found = new HashMap<>();
        if (!runs.isEmpty()) {
            NEXT.on(c).setUuids("runs", runs)
                    .all(row -> found.put(ViewLoader.uuid(row, "id"), Rows.time(row, "next_at")));
        }
        return found;
    }

    /** Stores the states of rates, and forgets old ones. */
    public static void store(Connection c, Map<Key, Instant> rates) throws SQLException {
        for (Map.Entry<Key, Instant> each : rates.entrySet()) {
            ADMIT.on(c).set("workspace", each.getKey().workspaceId).set("name", "runs:" + each.getKey().name)
                    .set("until", each.getValue()).update();
        }
        FORGET.on(c).update();
    }
}
