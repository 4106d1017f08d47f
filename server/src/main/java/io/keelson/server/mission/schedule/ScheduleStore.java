package io.keelson.server.mission.schedule;

import io.keelson.core.schedule.CatchUp;
import io.keelson.core.schedule.Overlap;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** {@code schedules}. A method uses the connection it is given and does not commit. */
public final class ScheduleStore {

    private static final String COLUMNS = """
            id, workspace_id, name, recipe_id, inputs, mission, cron, time_zone, overlap, catch_up,
            catch_up_window_seconds, jitter_seconds, end_at, max_runs, runs_made, times_missed, paused, next_run_at, version,
            created_by, created_at, updated_at""";

    private static final String INSERT = """
            insert into schedules (name, recipe_id, inputs, mission, cron, time_zone, overlap, catch_up,
                catch_up_window_seconds, jitter_seconds, end_at, max_runs, next_run_at, wake_at, paused, id, workspace_id,
                created_by, created_at, updated_at)
            select ?, ?, ?::jsonb, ?::jsonb, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, now, now
              from (select {now} as now) as clock
            on conflict (workspace_id, name) do nothing""".replace("{now}", DbClock.SQL);

    private static final String CHANGE = """
            update schedules
               set name = ?, recipe_id = ?, inputs = ?::jsonb, mission = ?::jsonb, cron = ?, time_zone = ?, overlap = ?,
                   catch_up = ?, catch_up_window_seconds = ?, jitter_seconds = ?, end_at = ?, max_runs = ?,
                   next_run_at = ?, wake_at = least(?, wake_at), paused = ?, version = version + 1, updated_at = {now}
             where id = ? and workspace_id = ?""".replace("{now}", DbClock.SQL);

    private static final String ONE = "select " + COLUMNS + " from schedules where workspace_id = ? and id = ?";

    /** Lists omit longer inputs. */
    private static final int MAX_LISTED_INPUTS = 16_384;

    private static final String LIST = "select " + COLUMNS.replace("inputs, mission", """
            case when octet_length(inputs::text) <= %d then inputs end as inputs, null as mission"""
            .formatted(MAX_LISTED_INPUTS)) + """

             from schedules
             where workspace_id = ? and (?::text is null or name = ?) and (?::text is null or name > ?)
             order by name limit ?""";

    /** Skips schedules that other servers have locked. */
    private static final String WAKING = "select " + COLUMNS + """

             from schedules where wake_at <= (select {now}) order by wake_at limit ?
               for update skip locked""".replace("{now}", DbClock.SQL);

    private static final String MINE = "select " + COLUMNS + " from schedules where id = ? for update skip locked";

    private static final String PLANNED = """
            update schedules set next_run_at = ?, times_missed = times_missed + ?, wake_at = ? where id = ?""";

    private static final String WAKE = "update schedules set wake_at = least(wake_at, ?) where id = ?";

    private static final String POSTPONE = "update schedules set wake_at = ? where id = ? and wake_at is not null";

    private static final String DECIDED = """
            update schedules set runs_made = runs_made + ?, next_run_at = ?, wake_at = ? where id = ?""";

    private static final String DELETE = "delete from schedules where workspace_id = ? and id = ?";

    private static final String NOW = "select " + DbClock.SQL;

    /**
     * A schedule of a list.
     *
     * @param schedule without its mission
     * @param inputsOmitted whether its inputs are too large for a list; the schedule then has none
     */
    public record Listed(ScheduleRow schedule, boolean inputsOmitted) {}

    private final DbClock clock;

    public ScheduleStore(DbClock clock) {
        this.clock = clock;
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

    /** Keeps a schedule; false when its name is taken, and then nothing has changed. */
    public boolean insert(Connection c, UUID id, UUID workspace, ScheduleSpec spec, boolean paused, String createdBy)
            throws SQLException {
        Instant next = paused ? null : spec.rule().after(now(c));
        try (PreparedStatement s = c.prepareStatement(INSERT)) {
            int p = bind(s, spec, next, paused);
            s.setObject(p++, id);
            s.setObject(p++, workspace);
            s.setString(p++, createdBy);
            clock.bind(s, p);
            return s.executeUpdate() > 0;
        }
    }

    /**
     * Replaces a schedule's specification, or pauses or resumes it. Past times are not evaluated
     * again.
     *
     * @throws SQLException with the state of a unique violation when another one has its name
     */
    public void change(Connection c, ScheduleRow schedule, ScheduleSpec spec, boolean paused) throws SQLException {
        boolean over =
                new ScheduleRow(schedule.id(), schedule.workspaceId(), spec, schedule.runsMade(), 0, paused, null, 1,
                        "", schedule.createdAt(), schedule.createdAt()).left() == 0;
        Instant next = paused || over ? null : spec.rule().after(now(c));
        try (PreparedStatement s = c.prepareStatement(CHANGE)) {
            int p = bind(s, spec, next, paused);
            clock.bind(s, p++);
            s.setObject(p++, schedule.id());
            s.setObject(p, schedule.workspaceId());
            s.executeUpdate();
        }
    }

    private static int bind(PreparedStatement s, ScheduleSpec spec, @Nullable Instant next, boolean paused)
            throws SQLException {
        s.setString(1, spec.name());
        s.setObject(2, spec.recipe());
        s.setString(3, spec.inputs().toString());
        s.setString(4, spec.mission() == null ? null : spec.mission().toString());
        s.setString(5, spec.cron());
        s.setString(6, spec.timeZone());
        s.setString(7, spec.overlap().wire());
        s.setString(8, spec.catchUp().wire());
        s.setInt(9, (int) spec.window().toSeconds());
        s.setInt(10, (int) spec.jitter().toSeconds());
        time(s, 11, spec.endAt());
        s.setObject(12, spec.maxRuns(), Types.INTEGER);
        time(s, 13, next);
        time(s, 14, next);
        s.setBoolean(15, paused);
        return 16;
    }

    public Optional<ScheduleRow> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return Rows.ofWorkspace(c, ONE, workspace, id, ScheduleStore::schedule);
    }

    /** Locked until the transaction ends. */
    public Optional<ScheduleRow> locked(Connection c, UUID workspace, UUID id) throws SQLException {
        return Rows.ofWorkspace(c, ONE + " for update", workspace, id, ScheduleStore::schedule);
    }

    /**
     * By name, without their missions.
     *
     * @param name only that one; null for all
     * @param after the name after which the page starts; null for the first
     */
    public Page<Listed> list(Connection c, UUID workspace, @Nullable String name, @Nullable String after, int limit)
            throws SQLException {
        return Rows.byName(c, LIST, workspace, name, after, limit,
                row -> new Listed(schedule(row), row.getString("inputs") == null));
    }

    /** False when there is none; its runs stay. */
    public boolean delete(Connection c, UUID workspace, UUID id) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(DELETE)) {
            s.setObject(1, workspace);
            s.setObject(2, id);
            return s.executeUpdate() > 0;
        }
    }

    /** Due schedules, locked; skips those that are locked already. */
    List<ScheduleRow> waking(Connection c, int limit) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(WAKING)) {
            clock.bind(s, 1);
            s.setInt(2, limit);
            return Rows.all(s, ScheduleStore::schedule);
        }
    }

    /** Locked; empty when it is locked already or gone. */
    Optional<ScheduleRow> mine(Connection c, UUID id) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(MINE)) {
            s.setObject(1, id);
            return Rows.all(s, ScheduleStore::schedule).stream().findFirst();
        }
    }

    void planned(Connection c, UUID id, @Nullable Instant next, int missed, @Nullable Instant wake)
            throws SQLException {
        try (PreparedStatement s = c.prepareStatement(PLANNED)) {
            time(s, 1, next);
            s.setInt(2, missed);
            time(s, 3, wake);
            s.setObject(4, id);
            s.executeUpdate();
        }
    }

    /**
     * Makes it due by then.
     *
     * @return false where it is no longer there
     */
    boolean wake(Connection c, UUID id, Instant at) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(WAKE)) {
            time(s, 1, at);
            s.setObject(2, id);
            return s.executeUpdate() > 0;
        }
    }

    /** Wants it looked at no sooner. */
    void postpone(Connection c, UUID id, Instant at) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(POSTPONE)) {
            time(s, 1, at);
            s.setObject(2, id);
            s.executeUpdate();
        }
    }

    void decided(Connection c, UUID id, int made, @Nullable Instant next, @Nullable Instant wake) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(DECIDED)) {
            s.setInt(1, made);
            time(s, 2, next);
            time(s, 3, wake);
            s.setObject(4, id);
            s.executeUpdate();
        }
    }

    static void time(PreparedStatement s, int position, @Nullable Instant time) throws SQLException {
        s.setObject(position, time == null ? null : time.atOffset(ZoneOffset.UTC), Types.TIMESTAMP_WITH_TIMEZONE);
    }

    private static ScheduleRow schedule(ResultSet row) throws SQLException {
        String inputs = row.getString("inputs");
        String mission = row.getString("mission");
        ScheduleSpec spec = new ScheduleSpec(row.getString("name"), row.getObject("recipe_id", UUID.class),
                inputs == null ? Json.object() : object(inputs), mission == null ? null : object(mission),
                row.getString("cron"), row.getString("time_zone"), Overlap.of(row.getString("overlap")),
                CatchUp.of(row.getString("catch_up")), Duration.ofSeconds(row.getInt("catch_up_window_seconds")),
                Duration.ofSeconds(row.getInt("jitter_seconds")), Rows.optionalTime(row, "end_at"),
                row.getObject("max_runs", Integer.class));
        return new ScheduleRow(row.getObject("id", UUID.class), row.getObject("workspace_id", UUID.class), spec,
                row.getInt("runs_made"), row.getInt("times_missed"), row.getBoolean("paused"),
                Rows.optionalTime(row, "next_run_at"), row.getInt("version"), row.getString("created_by"),
                Rows.time(row, "created_at"), Rows.time(row, "updated_at"));
    }

    private static ObjectNode object(String json) {
        return (ObjectNode) Json.read(json);
    }
}
