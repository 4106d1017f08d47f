package io.keelson.server.money;

import io.keelson.core.money.Tokens;
import io.keelson.server.db.Database;
import io.keelson.server.db.DbClock;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What a workspace was charged, and tokens that cost nothing, summed up. Corrections and what could not be collected are no part of it. */
public final class UsageReader {

    /** Most lines of a report. */
    public static final int MAX_LINES = 1_000;

    /** How a report is divided. */
    public enum By {
        DAY, AGENT, MODEL, TOOL, PURPOSE
    }

    /**
     * @param of the day (UTC, {@code 2026-11-21}), agent, model, tool or purpose; null where the charge names none
     * @param credits charged
     * @param tokens those that cost nothing included
     * @param runs how many runs were charged or used tokens
     */
    public record Line(@Nullable String of, BigDecimal credits, Tokens tokens, long charges, long runs) {}

    /**
     * @param from inclusive
     * @param to exclusive
     * @param lines days in order, others from the dearest; at most {@link #MAX_LINES}
     * @param complete false when there were more lines; the total covers them all the same
     */
    public record Report(Instant from, Instant to, List<Line> lines, Line total, boolean complete) {}

    private static final String NOW = "select {now}".replace("{now}", DbClock.SQL);

    private static final String SUM = """
            select part, coalesce(sum(amount), 0.000000) as credits,
                coalesce(sum((usage -> 'input')::bigint), 0)::bigint as input,
                coalesce(sum((usage -> 'cache_read')::bigint), 0)::bigint as cache_read,
                coalesce(sum((usage -> 'cache_write')::bigint), 0)::bigint as cache_write,
                coalesce(sum((usage -> 'output')::bigint), 0)::bigint as output,
                coalesce(sum((usage -> 'reasoning')::bigint), 0)::bigint as reasoning,
                count(amount) as charges, count(distinct run_id) as runs
              from (select amount, usage, run_id, case ?
                        when 'DAY' then to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')
                        when 'AGENT' then agent when 'MODEL' then model when 'TOOL' then tool else purpose end as part
                      from (select amount, usage, run_id, created_at, agent, model, tool, coalesce(purpose, 'work') as purpose
                              from billing_ledger
                             where workspace_id = ? and transaction_type = 'charge' and created_at >= ?
                               and created_at < ? and (?::uuid is null or run_id = ?)
                            union all
                            select null, usage, run_id, recorded_at, agent, model, tool, purpose from free_usage
                             where workspace_id = ? and recorded_at >= ? and recorded_at < ?
                               and (?::uuid is null or run_id = ?)) used
                   ) divided
             group by grouping sets ((), (part))
             order by grouping(part) desc, case when ? then part end, coalesce(sum(amount), 0) desc, part
             limit ?""";

    private final Database database;
    private final DbClock clock;

    UsageReader(Database database, DbClock clock) {
        this.database = database;
        this.clock = clock;
    }

    /** The time that reports end at when nothing else is said. */
    public Instant now() {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(NOW)) {
                clock.bind(read, 1);
                try (ResultSet row = read.executeQuery()) {
                    row.next();
                    return row.getObject(1, OffsetDateTime.class).toInstant();
                }
            }
        });
    }

    /**
     * @param run only this run's; null for all
     * @param to exclusive
     */
    public Report report(UUID workspace, By by, @Nullable UUID run, Instant from, Instant to) {
        return database.withConnection(c -> report(c, workspace, by, run, from, to));
    }

    private static Report report(Connection c, UUID workspace, By by, @Nullable UUID run, Instant from, Instant to)
            throws SQLException {
        try (PreparedStatement sum = c.prepareStatement(SUM)) {
            sum.setString(1, by.name());
            sum.setObject(2, workspace);
            sum.setObject(3, from.atOffset(ZoneOffset.UTC));
            sum.setObject(4, to.atOffset(ZoneOffset.UTC));
            sum.setObject(5, run, Types.OTHER);
            sum.setObject(6, run, Types.OTHER);
            sum.setObject(7, workspace);
            sum.setObject(8, from.atOffset(ZoneOffset.UTC));
            sum.setObject(9, to.atOffset(ZoneOffset.UTC));
            sum.setObject(10, run, Types.OTHER);
            sum.setObject(11, run, Types.OTHER);
            sum.setBoolean(12, by == By.DAY);
            sum.setInt(13, MAX_LINES + 2);
            try (ResultSet row = sum.executeQuery()) {
                row.next();
                Line total = line(row);
                List<Line> lines = new ArrayList<>();
                while (row.next()) {
                    lines.add(line(row));
                }
                boolean complete = lines.size() <= MAX_LINES;
                return new Report(from, to, complete ? lines : lines.subList(0, MAX_LINES), total, complete);
            }
        }
    }

    private static Line line(ResultSet row) throws SQLException {
        return new Line(row.getString("part"), row.getBigDecimal("credits"),
                new Tokens(row.getLong("input"), row.getLong("cache_read"), row.getLong("cache_write"),
                        row.getLong("output"), row.getLong("reasoning")),
                row.getLong("charges"), row.getLong("runs"));
    }
}
