package io.keelson.server.mission.schedule;

import io.keelson.core.run.Ids;
import io.keelson.server.base.db.Rows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** {@code schedule_ticks}. A method uses the connection it is given and does not commit. */
public final class ScheduledTimes {

    private static final String COLUMNS = """
            schedule_id, scheduled_for, kind, run_id, fire_at, state, error_code, error_message, decided_at""";

    private static final String INSERT = """
            insert into schedule_ticks (schedule_id, scheduled_for, kind, workspace_id, run_id, fire_at, state)
            values (?, ?, ?, ?, ?, ?, 'due') on conflict do nothing""";

    private static final String OPEN = "select " + COLUMNS + """

             from schedule_ticks where schedule_id = ? and decided_at is null and fire_at <= ?
             order by fire_at, scheduled_for, kind limit ?""";

    private static final String NEXT = """
            select min(fire_at) as next from schedule_ticks
             where schedule_id = ? and decided_at is null and fire_at > ?""";

    private static final String CHANGE = """
            update schedule_ticks
               set state = ?, at_work = ?, error_code = left(?, 100), error_message = ?, decided_at = ?
             where schedule_id = ? and scheduled_for = ? and kind = ?""";

    private static final String AT_WORK = "select run_id from schedule_ticks where schedule_id = ? and at_work";

    private static final String ENDED = """
            update schedule_ticks set at_work = false where schedule_id = ? and at_work and run_id = any (?)""";

    private static final String LIST = "select " + COLUMNS + """

             from schedule_ticks
             where workspace_id = ? and schedule_id = ?
               and (?::timestamptz is null or (scheduled_for, kind) < (?::timestamptz, ?))
             order by scheduled_for desc, kind desc limit ?""";

    private static final String ONE = "select " + COLUMNS + """

             from schedule_ticks where schedule_id = ? and scheduled_for = ? and kind = ?""";

    private static final String FORGET = """
            delete from schedule_ticks
             where schedule_id = ? and scheduled_for < ? and decided_at < ? and not at_work""";

    private static final Duration KEPT = Duration.ofDays(90);

    private final Ids ids;

    /** @param ids for the runs */
    public ScheduledTimes(Ids ids) {
        this.ids = ids;
    }

    /** Records a due time once; an existing time of that kind stays unchanged. */
    void add(Connection c, ScheduleRow schedule, Instant time, ScheduledTimeRow.Kind kind, Instant fireAt)
            throws SQLException {
        try (PreparedStatement s = c.prepareStatement(INSERT)) {
            s.setObject(1, schedule.id());
            ScheduleStore.time(s, 2, time);
            s.setString(3, kind.wire());
            s.setObject(4, schedule.workspaceId());
            s.setObject(5, ids.next());
            ScheduleStore.time(s, 6, fireAt);
            s.executeUpdate();
        }
    }

    /** The times that are due or queued, in order. */
    List<ScheduledTimeRow> open(Connection c, UUID schedule, Instant now, int limit) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(OPEN)) {
            s.setObject(1, schedule);
            ScheduleStore.time(s, 2, now);
            s.setInt(3, limit);
            return all(s);
        }
    }

    /** When the next open time is due; null if absent. */
    @Nullable Instant next(Connection c, UUID schedule, Instant now) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(NEXT)) {
            s.setObject(1, schedule);
            ScheduleStore.time(s, 2, now);
            try (ResultSet row = s.executeQuery()) {
                row.next();
                return Rows.optionalTime(row, "next");
            }
        }
    }

    /**
     * The outcome of one time.
     *
     * @param atWork whether others have to mind its run
     * @param now null while it stays open
     */
    void change(Connection c, ScheduledTimeRow time, ScheduledTimeRow.State state, boolean atWork,
            RunSubmitter.@Nullable Outcome outcome,
            @Nullable Instant now) throws SQLException {
        RunSubmitter.Outcome.Refused refused = outcome instanceof RunSubmitter.Outcome.Refused r ? r : null;
        try (PreparedStatement s = c.prepareStatement(CHANGE)) {
            s.setString(1, state.wire());
            s.setBoolean(2, atWork);
            s.setString(3, refused == null ? null : refused.code());
            s.setString(4, refused == null ? null : refused.message());
            ScheduleStore.time(s, 5, now);
            s.setObject(6, time.scheduleId());
            ScheduleStore.time(s, 7, time.scheduledFor());
            s.setString(8, time.kind().wire());
            s.executeUpdate();
        }
    }

    /** Runs that were not seen to have ended. */
    Set<UUID> atWork(Connection c, UUID schedule) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(AT_WORK)) {
            s.setObject(1, schedule);
            Set<UUID> runs = new HashSet<>();
            try (ResultSet row = s.executeQuery()) {
                while (row.next()) {
                    runs.add(row.getObject("run_id", UUID.class));
                }
            }
            return runs;
        }
    }

    void ended(Connection c, UUID schedule, Collection<UUID> runs) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(ENDED)) {
            s.setObject(1, schedule);
            s.setArray(2, c.createArrayOf("uuid", runs.toArray()));
            s.executeUpdate();
        }
    }

    /** Deletes old decided times; an old time that was backfilled recently stays, so that it is not repeated. */
    void forget(Connection c, UUID schedule, Instant now) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(FORGET)) {
            s.setObject(1, schedule);
            ScheduleStore.time(s, 2, now.minus(KEPT));
            ScheduleStore.time(s, 3, now.minus(KEPT));
            s.executeUpdate();
        }
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
        try (PreparedStatement s = c.prepareStatement(LIST)) {
            s.setObject(1, workspace);
            s.setObject(2, schedule);
            ScheduleStore.time(s, 3, after == null ? null : after.scheduledFor());
            ScheduleStore.time(s, 4, after == null ? null : after.scheduledFor());
            s.setString(5, after == null ? null : after.kind().wire());
            s.setInt(6, limit);
            return all(s);
        }
    }

    ScheduledTimeRow one(Connection c, UUID schedule, Instant time, ScheduledTimeRow.Kind kind) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(ONE)) {
            s.setObject(1, schedule);
            ScheduleStore.time(s, 2, time);
            s.setString(3, kind.wire());
            return all(s).getFirst();
        }
    }

    private static List<ScheduledTimeRow> all(PreparedStatement statement) throws SQLException {
        List<ScheduledTimeRow> found = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(new ScheduledTimeRow(row.getObject("schedule_id", UUID.class),
                        row.getObject("scheduled_for", OffsetDateTime.class).toInstant(),
                        ScheduledTimeRow.Kind.valueOf(row.getString("kind").toUpperCase(Locale.ROOT)),
                        row.getObject("run_id", UUID.class), row.getObject("fire_at", OffsetDateTime.class).toInstant(),
                        ScheduledTimeRow.State.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
                        row.getString("error_code"), row.getString("error_message"),
                        Rows.optionalTime(row, "decided_at")));
            }
        }
        return found;
    }
}
