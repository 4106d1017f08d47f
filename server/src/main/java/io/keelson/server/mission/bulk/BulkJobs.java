package io.keelson.server.mission.bulk;

import io.keelson.core.lifecycle.ActorType;
import io.keelson.core.run.Actor;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.RunSearch;
import io.keelson.server.engine.store.read.RunSelection;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
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

    private static final Sql INSERT = Sql.of("""
            insert into bulk_jobs (id, workspace_id, action, filter, reason, from_start, per_second, actor_type, actor_id,
                matches, created_at, wake_at)
            select :id, :workspace, :action, :filter::jsonb, :reason, :from_start, :per_second, :actor_type, :actor_id,
                :matches, :created_at, {now}""");

    private static final Sql ONE =
            Sql.of("select " + COLUMNS + " from bulk_jobs where workspace_id = :workspace and id = :id");

    private static final Sql LIST = Sql.of("select " + COLUMNS + """

             from bulk_jobs where workspace_id = :workspace and (:after::uuid is null or id < :after)
             order by id desc limit :limit""");

    private static final Sql STOP = Sql.of("""
            update bulk_jobs set state = 'stopped', ended_at = {now}, wake_at = null, waits_for = null
             where workspace_id = :workspace and id = :id and state = 'running'""");

    private static final Sql NEXT_WAKE =
            Sql.of("""
            select extract(epoch from min(wake_at) - {now}) * 1000 as millis from bulk_jobs where wake_at is not null""");

    /** Skips jobs that other nodes are claiming. */
    private static final Sql CLAIM = Sql.of("""
            update bulk_jobs set claim = claim + 1, wake_at = {now} + :lease * interval '1 millisecond'
             where id = (select id from bulk_jobs where wake_at <= {now} order by wake_at limit 1 for update skip locked)
            returning claim, portion, last_created_at, last_id,\s""" + COLUMNS);

    private static final Sql CHOSEN = Sql.of("""
            update bulk_jobs set portion = :portion, last_created_at = :last_created_at, last_id = :last_id
             where id = :id and claim = :claim and state = 'running'""");

    private static final Sql COUNTED = Sql.of("""
            update bulk_jobs j set changed = changed + :changed, unchanged = unchanged + :unchanged, waits_for = null,
                   portion = null,
                   wake_at = case state when 'running' then {now} + :pause * interval '1 millisecond' end,
                   refused = (select coalesce(jsonb_object_agg(code, n), '{}') from (
                       select code, sum(n) as n from (
                           select key as code, value::bigint as n from jsonb_each_text(j.refused)
                           union all
                           select key, value::bigint from jsonb_each_text(:refused::jsonb)) both_of group by code) added)
             where id = :id and claim = :claim""");

    private static final Sql POSTPONE = Sql.of("""
            update bulk_jobs set waits_for = :waits_for, wake_at = {now} + :pause * interval '1 millisecond'
             where id = :id and claim = :claim and state = 'running'""");

    private static final Sql COMPLETE = Sql.of("""
            update bulk_jobs set state = 'completed', ended_at = {now}, wake_at = null, waits_for = null
             where id = :id and claim = :claim and state = 'running'""");

    private static final Sql NOW = Sql.of("select {now} as now");

    /**
     * A job that one node has taken up.
     *
     * @param claim number of the claim; writes under an older claim change nothing
     * @param portion runs that were chosen and are not counted; empty if absent
     * @param last the last run that was chosen; null before the first
     */
    record Claimed(BulkJobRow job, long claim, List<UUID> portion, RunSearch.@Nullable Place last) {}

    private final DbClock clock;

    public BulkJobs(DbClock clock) {
        this.clock = clock;
    }

    /** The database's time. */
    public Instant now(Connection c) throws SQLException {
        return NOW.on(c).at(clock).one(row -> Rows.time(row, "now"));
    }

    /** How many runs a job would have before it, up to {@link #MAX_COUNTED}. */
    public long matches(Connection c, UUID workspace, BulkJobRow.Action action, RunSelection filter)
            throws SQLException {
        return RunSearch.count(c, workspace, filter, action.wanted(), now(c), MAX_COUNTED);
    }

    /** Makes a job, which is due at once. Runs that are created later are not meant. */
    public BulkJobRow insert(Connection c, UUID id, UUID workspace, BulkJobRow.Order order) throws SQLException {
        Instant now = now(c);
        INSERT.on(c).set("id", id).set("workspace", workspace).set("action", order.action().wire())
                .set("filter", FilterJson.of(order.filter()).toString()).set("reason", order.reason())
                .set("from_start", order.fromStart()).set("per_second", order.perSecond())
                .set("actor_type", order.actor().type().wire()).set("actor_id", order.actor().id())
                .set("matches",
                        RunSearch.count(c, workspace, order.filter(), order.action().wanted(), now, MAX_COUNTED))
                .set("created_at", now).at(clock).update();
        return find(c, workspace, id).orElseThrow();
    }

    public Optional<BulkJobRow> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return ONE.on(c).set("workspace", workspace).set("id", id).first(BulkJobs::job);
    }

    /**
     * Newest first.
     *
     * @param after the last job of the page before; null for the first
     */
    public Page<BulkJobRow> list(Connection c, UUID workspace, @Nullable UUID after, int limit) throws SQLException {
        return LIST.on(c).set("workspace", workspace).set("after", after).page(limit, BulkJobs::job);
    }

    /** Stops the choice of further runs; executed commands stay. A job that has ended is unchanged. */
    public void stop(Connection c, UUID workspace, UUID id) throws SQLException {
        STOP.on(c).at(clock).set("workspace", workspace).set("id", id).update();
    }

    /** How long until a job is due: zero or less when one is, null when there is none at work. */
    @Nullable Duration untilNext(Connection c) throws SQLException {
        return NEXT_WAKE.on(c).at(clock).<@Nullable Duration>one(row -> {
            double millis = row.getDouble("millis");
            return row.wasNull() ? null : Duration.ofMillis((long) Math.ceil(millis));
        });
    }

    /** Takes up a job that is due, for so long; afterwards others may. */
    Optional<Claimed> claim(Connection c, Duration lease) throws SQLException {
        return CLAIM.on(c).at(clock).set("lease", lease.toMillis()).first(BulkJobs::claimed);
    }

    /** Stores the chosen runs; false when another node has claimed the job since. */
    boolean chosen(Connection c, Claimed claimed, List<RunSearch.Place> portion) throws SQLException {
        return CHOSEN.on(c).setUuids("portion", portion.stream().map(RunSearch.Place::id).toList())
                .set("last_created_at", portion.getLast().createdAt()).set("last_id", portion.getLast().id())
                .set("id", claimed.job().id()).set("claim", claimed.claim()).update() == 1;
    }

    /** The portion is done; the next one is due then. */
    void counted(Connection c, Claimed claimed, int changed, int unchanged, ObjectNode refused, Duration pause)
            throws SQLException {
        COUNTED.on(c).set("changed", changed).set("unchanged", unchanged).at(clock).set("pause", pause.toMillis())
                .set("refused", refused.toString()).set("id", claimed.job().id()).set("claim", claimed.claim())
                .update();
    }

    /** The portion is to be tried again later. */
    void postpone(Connection c, Claimed claimed, String waitsFor, Duration pause) throws SQLException {
        POSTPONE.on(c).set("waits_for", waitsFor).at(clock).set("pause", pause.toMillis()).set("id", claimed.job().id())
                .set("claim", claimed.claim()).update();
    }

    void complete(Connection c, Claimed claimed) throws SQLException {
        COMPLETE.on(c).at(clock).set("id", claimed.job().id()).set("claim", claimed.claim()).update();
    }

    private static Claimed claimed(ResultSet row) throws SQLException {
        Instant last = Rows.optionalTime(row, "last_created_at");
        List<UUID> portion = Rows.optionalList(row, "portion", UUID[].class);
        return new Claimed(job(row), row.getLong("claim"), portion == null ? List.of() : portion,
                last == null ? null : new RunSearch.Place(last, row.getObject("last_id", UUID.class)));
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
