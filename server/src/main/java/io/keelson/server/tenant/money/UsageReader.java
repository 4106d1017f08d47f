package io.keelson.server.tenant.money;

import io.keelson.core.money.Tokens;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Sums of a workspace's charges, and tokens without cost. Corrections and uncollected amounts are not included. */
public final class UsageReader {

    /** Most lines of a report. */
    public static final int MAX_LINES = 1_000;

    /** How a report is divided. */
    public enum By {
        DAY("to_char(u.at at time zone 'UTC', 'YYYY-MM-DD')"),
        HOUR("to_char(u.at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:00:00.000\"Z\"')"),
        AGENT("u.agent"), MODEL("u.model"), TOOL("u.tool"), PURPOSE("u.purpose"), RUN("u.run_id::text"),
        TASK("(select t.task from step_tasks t where t.step_id = u.step_id)"),
        RECIPE("(select o.recipe from run_origins o where o.run_id = u.run_id)"),
        SCHEDULE("(select o.schedule from run_origins o where o.run_id = u.run_id)");

        /** SQL of the group of a use {@code u}. */
        private final String sql;

        By(String sql) {
            this.sql = sql;
        }

        private boolean time() {
            return this == DAY || this == HOUR;
        }
    }

    /**
     * @param of the parts in the order of the report's division: the day ({@code 2026-11-21}) or hour in UTC, an id, a
     *            key or a name; null if the charge names none
     * @param runName of the run that the report is divided by; null otherwise
     * @param credits charged
     * @param estimated the part of the credits whose tokens are an upper bound, as no answer reported them
     * @param tokens including free tokens
     * @param runs number of runs that were charged or used tokens
     */
    public record Line(List<@Nullable String> of, @Nullable String runName, BigDecimal credits, BigDecimal estimated,
            Tokens tokens,
            long charges, long runs) {}

    /**
     * @param from inclusive
     * @param to exclusive
     * @param lines days and hours in order, others from the dearest; at most {@link #MAX_LINES}
     * @param complete false when there were more lines; the total covers them all the same
     */
    public record Report(Instant from, Instant to, List<Line> lines, Line total, boolean complete) {}

    private static final Sql NOW = Sql.of("select {now} as now");

    /** Two parts; the second is null where the report has one. */
    private static final String SUM = """
            select part, part2, coalesce(sum(amount), 0.000000) as credits,
                coalesce(sum(amount) filter (where estimated), 0.000000) as estimated,
                coalesce(sum((usage -> 'input')::bigint), 0)::bigint as input,
                coalesce(sum((usage -> 'cache_read')::bigint), 0)::bigint as cache_read,
                coalesce(sum((usage -> 'cache_write')::bigint), 0)::bigint as cache_write,
                coalesce(sum((usage -> 'output')::bigint), 0)::bigint as output,
                coalesce(sum((usage -> 'reasoning')::bigint), 0)::bigint as reasoning,
                count(amount) as charges, count(distinct run_id) as runs, max(run_name) as run_name
              from (select u.amount, u.estimated, u.usage, u.run_id, %s as part, %s as part2, %s as run_name
                      from (select amount, estimated, usage, run_id, step_id, created_at as at, agent, model, tool,
                                coalesce(purpose, 'work') as purpose
                              from billing_ledger
                             where workspace_id = :workspace and transaction_type = 'charge' and created_at >= :from
                               and created_at < :to and (:run::uuid is null or run_id = :run)
                            union all
                            select null, null, usage, run_id, step_id, recorded_at, agent, model, tool, purpose from free_usage
                             where workspace_id = :workspace and recorded_at >= :from and recorded_at < :to
                               and (:run::uuid is null or run_id = :run)) u
                   ) divided
             group by grouping sets ((), (part, part2))
             order by grouping(part) desc, case when :by_time then part end, coalesce(sum(amount), 0) desc, part, part2
             limit :limit""";

    private static final String RUN_NAME = "(select o.name from run_origins o where o.run_id = u.run_id)";

    private final Database database;
    private final DbClock clock;

    UsageReader(Database database, DbClock clock) {
        this.database = database;
        this.clock = clock;
    }

    /** The time that reports end at when nothing else is said. */
    public Instant now() {
        return database.withConnection(c -> NOW.on(c).at(clock).one(row -> Rows.time(row, "now")));
    }

    /**
     * @param by one part, or two
     * @param run only this run's; null for all
     * @param to exclusive
     */
    public Report report(UUID workspace, List<By> by, @Nullable UUID run, Instant from, Instant to) {
        return database.withConnection(c -> report(c, workspace, by, run, from, to));
    }

    private static Report report(Connection c, UUID workspace, List<By> by, @Nullable UUID run, Instant from,
            Instant to) throws SQLException {
        String sql = SUM.formatted(by.getFirst().sql, by.size() == 1 ? "null::text" : by.getLast().sql,
                by.contains(By.RUN) ? RUN_NAME : "null::text");
        List<Line> lines = Sql.of(sql).on(c).set("workspace", workspace).set("from", from).set("to", to).set("run", run)
                .set("by_time", by.getFirst().time()).set("limit", MAX_LINES + 2).all(row -> line(row, by.size()));
        boolean complete = lines.size() <= MAX_LINES + 1;
        return new Report(from, to, lines.subList(1, complete ? lines.size() : MAX_LINES + 1), lines.getFirst(),
                complete);
    }

    private static Line line(ResultSet row, int parts) throws SQLException {
        return new Line(parts == 1 ? Collections.singletonList(row.getString("part"))
                : Arrays.asList(row.getString("part"), row.getString("part2")), row.getString("run_name"),
                row.getBigDecimal("credits"), row.getBigDecimal("estimated"),
                new Tokens(row.getLong("input"), row.getLong("cache_read"), row.getLong("cache_write"),
                        row.getLong("output"), row.getLong("reasoning")),
                row.getLong("charges"), row.getLong("runs"));
    }
}
