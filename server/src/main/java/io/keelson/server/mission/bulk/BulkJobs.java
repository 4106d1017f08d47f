package io.keelson.server.mission.bulk;

import io.keelson.core.lifecycle.ActorType;
import io.keelson.core.run.Actor;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.RunSearch;
import io.keelson.server.engine.store.read.RunSelection;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** {@code bulk_jobs}. A method uses the connection it is given and does not commit. */
public final class BulkJobs {

    /** More runs than these are not counted beforehand. */
    public static final int MAX_COUNTED = 100_000;

    private static final String COLUMNS = """
            id, workspace_id, action, filter, reason, from_start, per_second, state, actor_type, actor_id, matches, changed,
            unchanged, refused, waits_for, created_at, ended_at""";

    private static final String INSERT = now("""
            insert into bulk_jobs (id, workspace_id, action, filter, reason, from_start, per_second, actor_type, actor_id,
                matches, created_at, wake_at)
            select ?, ?, ?, ?::jsonb, ?, ?, ?, ?, ?, ?, ?, {now}""");

    private static final String ONE = "select " + COLUMNS + " from bulk_jobs where workspace_id = ? and id = ?";

    private static final String LIST = "select " + COLUMNS + """

             from bulk_jobs where workspace_id = ? and (?::uuid is null or id < ?) order by id desc limit ?""";

    private static final String STOP = now("""
            update bulk_jobs set state = 'stopped', ended_at = {now}, wake_at = null, waits_for = null
             where workspace_id = ? and id = ? and state = 'running'""");

    private static final String NEXT_WAKE =
            now("""
            select extract(epoch from min(wake_at) - {now}) * 1000 as millis from bulk_jobs where wake_at is not null""");

    /** Skips jobs that other nodes are claiming. */
    private static final String CLAIM = now("""
            update bulk_jobs set claim = claim + 1, wake_at = {now} + ? * interval '1 millisecond'
             where id = (select id from bulk_jobs where wake_at <= {now} order by wake_at limit 1 for update skip locked)
            returning claim, portion, last_created_at, last_id,\s""") + COLUMNS;

    private static final String CHOSEN = """
            update bulk_jobs set portion = ?, last_created_at = ?, last_id = ?
             where id = ? and claim = ? and state = 'running'""";

    private static final String COUNTED = now("""
            update bulk_jobs j set changed = changed + ?, unchanged = unchanged + ?, waits_for = null, portion = null,
                   wake_at = case state when 'running' then {now} + ? * interval '1 millisecond' end,
                   refused = (select coalesce(jsonb_object_agg(code, n), '{}') from (
                       select code, sum(n) as n from (
                           select key as code, value::bigint as n from jsonb_each_text(j.refused)
                           union all select key, value::bigint from jsonb_each_text(?::jsonb)) both_of group by code) added)
             where id = ? and claim = ?""");

    private static final String POSTPONE = now("""
            update bulk_jobs set waits_for = ?, wake_at = {now} + ? * interval '1 millisecond'
             where id = ? and claim = ? and state = 'running'""");

    private static final String COMPLETE = now("""
            update bulk_jobs set state = 'completed', ended_at = {now}, wake_at = null, waits_for = null
             where id = ? and claim = ? and state = 'running'""");

    private static final String NOW = "select " + DbClock.SQL;

    /**
     * A job that one node has taken up.
     *
     * @param claim its number; what is written under an older one changes nothing
     * @param portion runs that were chosen and are not counted; empty if absent
     * @param last the last run that was chosen; null before the first
     */
    record Claimed(BulkJobRow job, long claim, List<UUID> portion, RunSearch.@Nullable Place last) {}

    private final DbClock clock;

    public BulkJobs(DbClock clock) {
        this.clock = clock;
    }

    private static String now(String sql) {
        return sql.replace("{now}", DbClock.SQL);
    }

    /** The database's time. */
    public Instant now(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(NOW)) {
            clock.bind(s, 1);
            try (ResultSet row = s.executeQuery()) {
                row.next();
                return row.getObject(1, OffsetDateTime.class).toInstant();
            }
        }
    }

    /** How many runs a job would have before it, up to {@link #MAX_COUNTED}. */
    public long matches(Connection c, UUID workspace, BulkJobRow.Action action, RunSelection filter)
            throws SQLException {
        return RunSearch.count(c, workspace, filter, action.wanted(), now(c), MAX_COUNTED);
    }

    /** Makes a job, which is due at once. Runs that are created later are not meant. */
    public BulkJobRow insert(Connection c, UUID id, UUID workspace, BulkJobRow.Order order) throws SQLException {
        Instant now = now(c);
        try (PreparedStatement s = c.prepareStatement(INSERT)) {
            s.setObject(1, id);
            s.setObject(2, workspace);
            s.setString(3, order.action().wire());
            s.setString(4, FilterJson.of(order.filter()).toString());
            s.setString(5, order.reason());
            s.setBoolean(6, order.fromStart());
            s.setInt(7, order.perSecond());
            s.setString(8, order.actor().type().wire());
            s.setString(9, order.actor().id());
            s.setLong(10, RunSearch.count(c, workspace, order.filter(), order.action().wanted(), now, MAX_COUNTED));
            s.setObject(11, now.atOffset(ZoneOffset.UTC));
            clock.bind(s, 12);
            s.executeUpdate();
        }
        return find(c, workspace, id).orElseThrow();
    }

    public Optional<BulkJobRow> find(Connection c, UUID workspace, UUID id) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(ONE)) {
            s.setObject(1, workspace);
            s.setObject(2, id);
            return Rows.all(s, BulkJobs::job).stream().findFirst();
        }
    }

    /**
     * Newest first.
     *
     * @param after the last job of the page before; null for the first
     */
    public Page<BulkJobRow> list(Connection c, UUID workspace, @Nullable UUID after, int limit) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(LIST)) {
            s.setObject(1, workspace);
            s.setObject(2, after);
            s.setObject(3, after);
            s.setInt(4, limit + 1);
            return Rows.page(s, limit, BulkJobs::job);
        }
    }

    /** Lets no more runs be chosen; what was done stays. A job that has ended stays as it is. */
    public void stop(Connection c, UUID workspace, UUID id) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(STOP)) {
            clock.bind(s, 1);
            s.setObject(2, workspace);
            s.setObject(3, id);
            s.executeUpdate();
        }
    }

    /** How long until a job is due: zero or less when one is, null when there is none at work. */
    @Nullable Duration untilNext(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(NEXT_WAKE)) {
            clock.bind(s, 1);
            try (ResultSet row = s.executeQuery()) {
                row.next();
                double millis = row.getDouble("millis");
                return row.wasNull() ? null : Duration.ofMillis((long) Math.ceil(millis));
            }
        }
    }

    /** Takes up a job that is due, for so long; afterwards others may. */
    Optional<Claimed> claim(Connection c, Duration lease) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(CLAIM)) {
            clock.bind(s, 1);
            s.setLong(2, lease.toMillis());
            clock.bind(s, 3);
            try (ResultSet row = s.executeQuery()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                Instant last = Rows.optionalTime(row, "last_created_at");
                List<UUID> portion = row.getArray("portion") == null ? List.of()
                        : List.of((UUID[]) row.getArray("portion").getArray());
                return Optional.of(new Claimed(job(row), row.getLong("claim"), portion,
                        last == null ? null : new RunSearch.Place(last, row.getObject("last_id", UUID.class))));
            }
        }
    }

    /** Stores the chosen runs; false when another node has claimed the job since. */
    boolean chosen(Connection c, Claimed claimed, List<RunSearch.Place> portion) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(CHOSEN)) {
            s.setArray(1, c.createArrayOf("uuid", portion.stream().map(RunSearch.Place::id).toArray()));
            s.setObject(2, portion.getLast().createdAt().atOffset(ZoneOffset.UTC));
            s.setObject(3, portion.getLast().id());
            s.setObject(4, claimed.job().id());
            s.setLong(5, claimed.claim());
            return s.executeUpdate() == 1;
        }
    }

    /** The portion is done; the next one is due then. */
    void counted(Connection c, Claimed claimed, int changed, int unchanged, ObjectNode refused, Duration pause)
            throws SQLException {
        try (PreparedStatement s = c.prepareStatement(COUNTED)) {
            s.setInt(1, changed);
            s.setInt(2, unchanged);
            clock.bind(s, 3);
            s.setLong(4, pause.toMillis());
            s.setString(5, refused.toString());
            s.setObject(6, claimed.job().id());
            s.setLong(7, claimed.claim());
            s.executeUpdate();
        }
    }

    /** The portion is to be tried again later. */
    void postpone(Connection c, Claimed claimed, String waitsFor, Duration pause) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(POSTPONE)) {
            s.setString(1, waitsFor);
            clock.bind(s, 2);
            s.setLong(3, pause.toMillis());
            s.setObject(4, claimed.job().id());
            s.setLong(5, claimed.claim());
            s.executeUpdate();
        }
    }

    void complete(Connection c, Claimed claimed) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(COMPLETE)) {
            clock.bind(s, 1);
            s.setObject(2, claimed.job().id());
            s.setLong(3, claimed.claim());
            s.executeUpdate();
        }
    }

    private static BulkJobRow job(ResultSet row) throws SQLException {
        BulkJobRow.Order order = new BulkJobRow.Order(
                BulkJobRow.Action.valueOf(row.getString("action").toUpperCase(Locale.ROOT)),
                FilterJson.read(Json.read(row.getString("filter"))), row.getString("reason"),
                row.getBoolean("from_start"), row.getInt("per_second"),
                new Actor(ActorType.of(row.getString("actor_type")), row.getString("actor_id")));
        return new BulkJobRow(row.getObject("id", UUID.class), row.getObject("workspace_id", UUID.class), order,
                BulkJobRow.State.valueOf(row.getString("state").toUpperCase(Locale.ROOT)), row.getLong("matches"),
                row.getLong("changed"), row.getLong("unchanged"), (ObjectNode) Json.read(row.getString("refused")),
                row.getString("waits_for"), Rows.time(row, "created_at"), Rows.optionalTime(row, "ended_at"));
    }
}
