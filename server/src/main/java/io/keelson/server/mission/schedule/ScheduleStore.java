package io.keelson.server.mission.schedule;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** {@code schedules}. A method uses the connection it is given and does not commit. */
public final class ScheduleStore {

    private static final RecordColumns<ScheduleSpec> SPEC = RecordColumns.of(ScheduleSpec.class);
    private static final RecordColumns<ScheduleRow> ROW = RecordColumns.of(ScheduleRow.class);

    private static final Sql INSERT = Sql.of("""
            insert into schedules (%s, next_run_at, wake_at, paused, id, workspace_id, created_by, created_at, updated_at)
            select %s, :next, :next, :paused, :id, :workspace, :created_by, now, now
              from (select {now} as now) as clock
            on conflict (workspace_id, name) do nothing""".formatted(SPEC.names(), SPEC.parameters()));

    private static final Sql CHANGE = Sql.of("""
            update schedules
               set %s, next_run_at = :next, wake_at = least(:next, wake_at), paused = :paused, version = version + 1,
                   updated_at = {now}
             where id = :id and workspace_id = :workspace""".formatted(SPEC.assignments()));

    private static final Sql ONE =
            Sql.of("select " + ROW.names() + " from schedules where workspace_id = :workspace and id = :id");

    private static final Sql LOCKED = ONE.and(" for update");

    /** Lists omit longer inputs. */
    private static final int MAX_LISTED_INPUTS = 16_384;

    private static final Sql LIST = Sql.of("select " + ROW.names().replace(" inputs, mission,", """
             case when octet_length(inputs::text) <= :most then inputs else '{}' end as inputs, null as mission,""")
            + """
            , octet_length(inputs::text) > :most as inputs_omitted
             from schedules
             where workspace_id = :workspace and (:name::text is null or name = :name)
               and (:after::text is null or name > :after)
             order by name limit :limit""");

    /** Skips schedules that other servers have locked. */
    private static final Sql WAKING = Sql.of("select " + ROW.names() + """

             from schedules where wake_at <= (select {now}) order by wake_at limit :limit
               for update skip locked""");

    private static final Sql MINE =
            Sql.of("select " + ROW.names() + " from schedules where id = :id for update skip locked");

    private static final Sql PLANNED = Sql.of("""
            update schedules set next_run_at = :next, times_missed = times_missed + :missed, wake_at = :wake
             where id = :id""");

    private static final Sql WAKE = Sql.of("update schedules set wake_at = least(wake_at, :at) where id = :id");

    private static final Sql POSTPONE =
            Sql.of("update schedules set wake_at = :at where id = :id and wake_at is not null");

    private static final Sql DECIDED = Sql.of("""
            update schedules set runs_made = runs_made + :made, next_run_at = :next, wake_at = :wake where id = :id""");

    private static final Sql DELETE = Sql.of("delete from schedules where workspace_id = :workspace and id = :id");

    private static final Sql NOW = Sql.of("select {now} as now");

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
        return NOW.on(c).at(clock).one(row -> Rows.time(row, "now"));
    }

    /** Keeps a schedule; false when its name is taken, and then nothing has changed. */
    public boolean insert(Connection c, UUID id, UUID workspace, ScheduleSpec spec, boolean paused, String createdBy)
            throws SQLException {
        Instant next = paused ? null : spec.rule().after(now(c));
        return INSERT.on(c).set(spec).set("next", next).set("paused", paused).set("id", id).set("workspace", workspace)
                .set("created_by", createdBy).at(clock).update() > 0;
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
        CHANGE.on(c).set(spec).set("next", next).set("paused", paused).at(clock).set("id", schedule.id())
                .set("workspace", schedule.workspaceId()).update();
    }

    public Optional<ScheduleRow> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return ONE.on(c).set("workspace", workspace).set("id", id).first(ROW);
    }

    /** Locked until the transaction ends. */
    public Optional<ScheduleRow> locked(Connection c, UUID workspace, UUID id) throws SQLException {
        return LOCKED.on(c).set("workspace", workspace).set("id", id).first(ROW);
    }

    /**
     * By name, without their missions.
     *
     * @param name only that one; null for all
     * @param after the name after which the page starts; null for the first
     */
    public Page<Listed> list(Connection c, UUID workspace, @Nullable String name, @Nullable String after, int limit)
            throws SQLException {
        return LIST.on(c).set("workspace", workspace).set("name", name).set("after", after)
                .set("most", MAX_LISTED_INPUTS)
                .page(limit, row -> new Listed(ROW.read(row), row.getBoolean("inputs_omitted")));
    }

    /** False when there is none; its runs stay. */
    public boolean delete(Connection c, UUID workspace, UUID id) throws SQLException {
        return DELETE.on(c).set("workspace", workspace).set("id", id).update() > 0;
    }

    /** Due schedules, locked; skips schedules that are already locked. */
    List<ScheduleRow> waking(Connection c, int limit) throws SQLException {
        return WAKING.on(c).at(clock).set("limit", limit).all(ROW);
    }

    /** Locked; empty when it is locked already or gone. */
    Optional<ScheduleRow> mine(Connection c, UUID id) throws SQLException {
        return MINE.on(c).set("id", id).first(ROW);
    }

    void planned(Connection c, UUID id, @Nullable Instant next, int missed, @Nullable Instant wake)
            throws SQLException {
        PLANNED.on(c).set("next", next).set("missed", missed).set("wake", wake).set("id", id).update();
    }

    /**
     * Makes it due by then.
     *
     * @return false where it is no longer there
     */
    boolean wake(Connection c, UUID id, Instant at) throws SQLException {
        return WAKE.on(c).set("at", at).set("id", id).update() > 0;
    }

    /** Wants it looked at no sooner. */
    void postpone(Connection c, UUID id, Instant at) throws SQLException {
        POSTPONE.on(c).set("at", at).set("id", id).update();
    }

    void decided(Connection c, UUID id, int made, @Nullable Instant next, @Nullable Instant wake) throws SQLException {
        DECIDED.on(c).set("made", made).set("next", next).set("wake", wake).set("id", id).update();
    }
}
