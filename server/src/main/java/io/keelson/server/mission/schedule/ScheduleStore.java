package io.keelson.server.mission.schedule;

import io.keelson.api.schedule.Schedule;
import io.keelson.api.schedule.ScheduleDefinition;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** {@code schedules}. A method uses the connection it is given and does not commit. */
public final class ScheduleStore {

    /** A recipe is stored by its id; only pausing changes whether a schedule is paused. */
    private static final RecordColumns<ScheduleDefinition> GIVEN =
            RecordColumns.of(ScheduleDefinition.class).without("recipe", "paused");
    private static final RecordColumns<Schedule> SHOWN = RecordColumns.of(Schedule.class);
    private static final String COLUMNS = SHOWN.names().replace(" omitted,", " null::text[] as omitted,");

    private static final Sql INSERT = Sql.of("""
            insert into schedules (%s, recipe_id, next_run_at, wake_at, paused, id, workspace_id, created_by, created_at,
                updated_at)
            select %s, :recipe, :next, :next, :paused, :id, :workspace, :created_by, now, now
              from (select {now} as now) as clock
            on conflict (workspace_id, name) do nothing""".formatted(GIVEN.names(), GIVEN.parameters()));

    private static final String CHANGED = """
            update schedules
               set %s next_run_at = :next, wake_at = least(:next, wake_at), paused = :paused, version = version + 1,
                   updated_at = {now}
             where id = :id and workspace_id = :workspace""";

    /** An equal definition changes nothing. */
    private static final Sql CHANGE = Sql.of(CHANGED.formatted(GIVEN.assignments() + ", recipe_id = :recipe,") + """

               and (%s, recipe_id, paused) is distinct from (%s, :recipe, :paused)"""
            .formatted(GIVEN.names(), GIVEN.parameters()));

    private static final Sql PAUSE = Sql.of(CHANGED.formatted("") + " and paused <> :paused");

    private static final Sql ONE =
            Sql.of("select " + COLUMNS + " from schedules where workspace_id = :workspace and id = :id");

    private static final Sql LOCKED = ONE.and(" for update");

    /** Lists omit longer inputs. */
    private static final int MAX_LISTED_INPUTS = 16_384;

    private static final Sql LIST = Sql.of("select " + SHOWN.names().replace(" inputs, omitted, mission,", """
             case when octet_length(inputs::text) <= :most then inputs end as inputs,
                case when octet_length(inputs::text) > :most then '{inputs}'::text[] else '{}' end as omitted,
                null as mission,""") + """

             from schedules
             where workspace_id = :workspace and (:name::text is null or name = :name)
               and (:after::text is null or name > :after)
             order by name limit :limit""");

    /** Skips schedules that other servers have locked. */
    private static final Sql WAKING = Sql.of("select " + COLUMNS + """

             from schedules where wake_at <= (select {now}) order by wake_at limit :limit
               for update skip locked""");

    private static final Sql MINE =
            Sql.of("select " + COLUMNS + " from schedules where id = :id for update skip locked");

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

    private final DbClock clock;

    public ScheduleStore(DbClock clock) {
        this.clock = clock;
    }

    /** The database's time. */
    public Instant now(Connection c) throws SQLException {
        return NOW.on(c).at(clock).one(row -> Rows.time(row, "now"));
    }

    /**
     * Keeps a schedule; false when its name is taken, and then nothing has changed.
     *
     * @param recipe the recipe of its runs; null if it has a mission of its own
     */
    public boolean insert(Connection c, UUID id, UUID workspace, ScheduleDefinition given, @Nullable UUID recipe,
            String createdBy) throws SQLException {
        boolean paused = Boolean.TRUE.equals(given.paused());
        Instant next = paused ? null : ScheduleRow.rule(given).after(now(c));
        return INSERT.on(c).set(given).set("recipe", recipe).set("next", next).set("paused", paused).set("id", id)
                .set("workspace", workspace).set("created_by", createdBy).at(clock).update() > 0;
    }

    /**
     * Replaces a schedule's definition. Past times are not evaluated again.
     *
     * @param recipe the recipe of its runs; null if it has a mission of its own
     * @throws SQLException with the state of a unique violation when another one has its name
     */
    public void change(Connection c, ScheduleRow schedule, ScheduleDefinition given, @Nullable UUID recipe)
            throws SQLException {
        boolean paused = given.paused() == null ? schedule.shown().paused() : given.paused();
        boolean over = schedule.runsLeft(given.maxRuns()) == 0;
        Instant next = paused || over ? null : ScheduleRow.rule(given).after(now(c));
        CHANGE.on(c).set(given).set("recipe", recipe).set("next", next).set("paused", paused).at(clock)
                .set("id", schedule.id()).set("workspace", schedule.workspaceId()).update();
    }

    /** Pauses or resumes a schedule. Past times are not evaluated again. */
    public void pause(Connection c, ScheduleRow schedule, boolean paused) throws SQLException {
        Instant next = paused || schedule.left() == 0 ? null : schedule.rule().after(now(c));
        PAUSE.on(c).set("next", next).set("paused", paused).at(clock).set("id", schedule.id())
                .set("workspace", schedule.workspaceId()).update();
    }

    public Optional<ScheduleRow> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return ONE.on(c).set("workspace", workspace).set("id", id).first(ScheduleStore::row);
    }

    /** Locked until the transaction ends. */
    public Optional<ScheduleRow> locked(Connection c, UUID workspace, UUID id) throws SQLException {
        return LOCKED.on(c).set("workspace", workspace).set("id", id).first(ScheduleStore::row);
    }

    /**
     * By name, without their missions.
     *
     * @param name only that one; null for all
     * @param after the name after which the page starts; null for the first
     */
    public Page<ScheduleRow> list(Connection c, UUID workspace, @Nullable String name, @Nullable String after,
            int limit)
            throws SQLException {
        return LIST.on(c).set("workspace", workspace).set("name", name).set("after", after)
                .set("most", MAX_LISTED_INPUTS)
                .page(limit, ScheduleStore::row);
    }

    /** False when there is none; its runs stay. */
    public boolean delete(Connection c, UUID workspace, UUID id) throws SQLException {
        return DELETE.on(c).set("workspace", workspace).set("id", id).update() > 0;
    }

    /** Due schedules, locked; skips schedules that are already locked. */
    List<ScheduleRow> waking(Connection c, int limit) throws SQLException {
        return WAKING.on(c).at(clock).set("limit", limit).all(ScheduleStore::row);
    }

    /** Locked; empty when it is locked already or gone. */
    Optional<ScheduleRow> mine(Connection c, UUID id) throws SQLException {
        return MINE.on(c).set("id", id).first(ScheduleStore::row);
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

    private static ScheduleRow row(ResultSet row) throws SQLException {
        return new ScheduleRow(SHOWN.read(row));
    }
}
