package io.keelson.server.mission.schedule;

import io.keelson.core.run.Ids;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** {@code schedule_ticks}. A method uses the connection it is given and does not commit. */
public final class ScheduledTimes {

    private static final RecordColumns<ScheduledTimeRow> ROW = RecordColumns.of(ScheduledTimeRow.class);

    private static final Sql INSERT = Sql.of("""
            insert into schedule_ticks (schedule_id, scheduled_for, kind, workspace_id, run_id, fire_at, state)
            values (:schedule, :time, :kind, :workspace, :run, :fire_at, 'due') on conflict do nothing""");

    private static final Sql OPEN = Sql.of("select " + ROW.names() + """

             from schedule_ticks where schedule_id = :schedule and decided_at is null and fire_at <= :now
             order by fire_at, scheduled_for, kind limit :limit""");

    private static final Sql NEXT = Sql.of("""
            select min(fire_at) as next from schedule_ticks
             where schedule_id = :schedule and decided_at is null and fire_at > :now""");

    private static final Sql CHANGE = Sql.of("""
            update schedule_ticks
               set state = :state, at_work = :at_work, error_code = left(:code, 100), error_message = :message,
                   decided_at = :now
             where schedule_id = :schedule and scheduled_for = :time and kind = :kind""");

    private static final Sql AT_WORK =
            Sql.of("select run_id from schedule_ticks where schedule_id = :schedule and at_work");

    private static final Sql ENDED = Sql.of("""
            update schedule_ticks set at_work = false
             where schedule_id = :schedule and at_work and run_id = any (:runs)""");

    private static final Sql LIST = Sql.of("select " + ROW.names() + """

             from schedule_ticks
             where workspace_id = :workspace and schedule_id = :schedule
               and (:time::timestamptz is null or (scheduled_for, kind) < (:time::timestamptz, :kind))
             order by scheduled_for desc, kind desc limit :limit""");

    private static final Sql ONE = Sql.of("select " + ROW.names() + """

             from schedule_ticks where schedule_id = :schedule and scheduled_for = :time and kind = :kind""");

    private static final Sql FORGET = Sql.of("""
            delete from schedule_ticks
             where schedule_id = :schedule and scheduled_for < :before and decided_at < :before and not at_work""");

    private static final Duration KEPT = Duration.ofDays(90);

    private final Ids ids;

    /** @param ids for the runs */
    public ScheduledTimes(Ids ids) {
        this.ids = ids;
    }

    /** Records a due time once; an existing time of that kind stays unchanged. */
    void add(Connection c, ScheduleRow schedule, Instant time, ScheduledTimeRow.Kind kind, Instant fireAt)
            throws SQLException {
        INSERT.on(c).set("schedule", schedule.id()).set("time", time).set("kind", kind.wire())
                .set("workspace", schedule.workspaceId()).set("run", ids.next()).set("fire_at", fireAt).update();
    }

    /** The times that are due or queued, in order. */
    List<ScheduledTimeRow> open(Connection c, UUID schedule, Instant now, int limit) throws SQLException {
        return OPEN.on(c).set("schedule", schedule).set("now", now).set("limit", limit).all(ROW);
    }

    /** When the next open time is due; null if absent. */
    @Nullable Instant next(Connection c, UUID schedule, Instant now) throws SQLException {
        return NEXT.on(c).set("schedule", schedule).set("now", now)
                .<@Nullable Instant>one(row -> Rows.optionalTime(row, "next"));
    }

    /**
     * The outcome of one time.
     *
     * @param atWork whether others have to mind its run
     * @param now null while it stays open
     */
    void change(Connection c, ScheduledTimeRow time, ScheduledTimeRow.State state, boolean atWork,
            RunSubmitter.@Nullable Outcome outcome, @Nullable Instant now) throws SQLException {
        RunSubmitter.Outcome.Refused refused = outcome instanceof RunSubmitter.Outcome.Refused r ? r : null;
        CHANGE.on(c).set("state", state.wire()).set("at_work", atWork)
                .set("code", refused == null ? null : refused.code())
                .set("message", refused == null ? null : refused.message()).set("now", now)
                .set("schedule", time.scheduleId()).set("time", time.scheduledFor()).set("kind", time.kind().wire())
                .update();
    }

    /** Runs that were not seen to have ended. */
    Set<UUID> atWork(Connection c, UUID schedule) throws SQLException {
        return Set.copyOf(AT_WORK.on(c).set("schedule", schedule).all(row -> row.getObject("run_id", UUID.class)));
    }

    void ended(Connection c, UUID schedule, Collection<UUID> runs) throws SQLException {
        ENDED.on(c).set("schedule", schedule).setUuids("runs", runs).update();
    }

    /** Deletes old decided times; an old time that was backfilled recently stays, so that it is not repeated. */
    void forget(Connection c, UUID schedule, Instant now) throws SQLException {
        FORGET.on(c).set("schedule", schedule).set("before", now.minus(KEPT)).update();
    }

    /** The position of the next page. */
    public record Place(Instant scheduledFor, ScheduledTimeRow.Kind kind) {}

    /**
     * Newest first.
     *
     * @param after the position after which the page starts; null for the first
     */
    public List<ScheduledTimeRow> list(Connection c, UUID workspace, UUID schedule, @Nullable Place after, int limit)
            throws SQLException {
        return LIST.on(c).set("workspace", workspace).set("schedule", schedule)
                .set("time", after == null ? null : after.scheduledFor())
                .set("kind", after == null ? null : after.kind().wire()).set("limit", limit).all(ROW);
    }

    ScheduledTimeRow one(Connection c, UUID schedule, Instant time, ScheduledTimeRow.Kind kind) throws SQLException {
        return ONE.on(c).set("schedule", schedule).set("time", time).set("kind", kind.wire()).one(ROW);
    }
}
