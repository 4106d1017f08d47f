package io.keelson.server.engine.store.queue;

import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * {@code work_messages}: messages about ready work, for a broker. Commits add rows; the methods here use the given connection.
 * Locked rows are skipped, so that no commit waits for a message that waits for it.
 */
public final class WorkMessages {

    /**
     * A message to send.
     *
     * @param priority of the work; lower ones come first
     * @param sent number of earlier messages that the broker has confirmed
     * @param dueAt identifies this attempt
     */
    public record Message(UUID taskId, int lane, UUID workspaceId, String tool, int priority, int sent,
            Instant dueAt) {}

    /** All rows of work that is claimed or gone are removed, the others become due again after the time of an attempt. */
    private static final Sql TAKE = Sql.of("""
            with clock as materialized (select clock_timestamp() as now),
            due as materialized (
                select m.task_id, m.lane from work_messages m, clock where m.due_at <= clock.now
                 order by m.due_at limit :most for update of m skip locked),
            waiting as materialized (
                select d.task_id, d.lane, q.workspace_id, q.tool, q.priority, q.queued_at
                  from due d join work_queue q on q.task_id = d.task_id and q.lane = d.lane where q.holder is null),
            removed as (
                delete from work_messages m using due d
                 where m.task_id = d.task_id and m.lane = d.lane
                   and not exists (select from waiting w where w.task_id = d.task_id and w.lane = d.lane)
                returning m.task_id)
            update work_messages m set due_at = clock.now + :attempt_ms * interval '1 millisecond'
              from waiting w, clock
             where m.task_id = w.task_id and m.lane = w.lane
            returning m.task_id, m.lane, w.workspace_id, w.tool, w.priority, m.sent, m.due_at""");

    /** Only rows of this attempt: a commit may have queued the work again meanwhile. */
    private static final Sql SENT = Sql.of("""
            with attempt as materialized (
                select m.task_id, m.lane from work_messages m
                  join unnest(:tasks::uuid[], :lanes::bigint[]) as u (task_id, lane)
                    on u.task_id = m.task_id and u.lane = m.lane
                 where m.due_at = :due_at for update of m skip locked)
            update work_messages m set sent = m.sent + :more, due_at = clock_timestamp()
                + least(:pause_ms * power(2, least(m.sent, 20)), 3600000) * interval '1 millisecond'
              from attempt a where m.task_id = a.task_id and m.lane = a.lane""");

    private static final Sql ADD_ALL = Sql.of("""
            insert into work_messages (task_id, lane, due_at)
            select task_id, lane, queued_at from work_queue
             where holder is null and tool <> all (:own_tools::text[]) and not starts_with(tool, :own_prefix)
            on conflict do nothing""");

    private WorkMessages() {}

    /**
     * Takes messages that are due, the longest due first.
     *
     * @param attempt time after which another server may take them
     */
    public static List<Message> take(Connection c, int most, Duration attempt) throws SQLException {
        return TAKE.on(c).set("most", most).set("attempt_ms", attempt.toMillis()).all(WorkMessages::message);
    }

    private static Message message(ResultSet row) throws SQLException {
        return new Message(row.getObject("task_id", UUID.class), row.getInt("lane"),
                row.getObject("workspace_id", UUID.class), row.getString("tool"), row.getInt("priority"),
                row.getInt("sent"), Rows.time(row, "due_at"));
    }

    /**
     * The broker has confirmed these messages of one {@link #take}. They are due again after the pause, after a second message
     * after twice the pause and so on, an hour at most.
     */
    public static void recordSent(Connection c, Collection<Message> messages, Duration pause) throws SQLException {
        postpone(c, messages, 1, pause);
    }

    /** These messages of one {@link #take} were not sent, and are due again as if they had been. */
    public static void recordUnsent(Connection c, Collection<Message> messages, Duration pause) throws SQLException {
        postpone(c, messages, 0, pause);
    }

    private static void postpone(Connection c, Collection<Message> messages, int more, Duration pause)
            throws SQLException {
        if (!messages.isEmpty()) {
            SENT.on(c).setUuids("tasks", messages.stream().map(Message::taskId).toList())
                    .setLongs("lanes", messages.stream().map(message -> (long) message.lane()).toList())
                    .set("due_at", messages.iterator().next().dueAt()).set("more", more)
                    .set("pause_ms", pause.toMillis()).update();
        }
    }

    /**
     * Adds all ready work of workers that has no row, such as work that was queued without a broker. Returns its amount.
     *
     * @param ownTools tools of the servers
     * @param ownPrefix of further tools of the servers
     */
    public static int addAll(Connection c, Collection<String> ownTools, String ownPrefix) throws SQLException {
        return ADD_ALL.on(c).setTexts("own_tools", ownTools).set("own_prefix", ownPrefix).update();
    }
}
