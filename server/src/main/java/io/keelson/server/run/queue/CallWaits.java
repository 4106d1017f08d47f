package io.keelson.server.run.queue;

import io.keelson.server.db.DbClock;
import io.keelson.server.db.Rows;
import io.keelson.server.json.Json;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code call_waits}: what calls of tools of other servers wait for. Each method uses the given connection. */
public final class CallWaits {

    /** Where a call is. */
    public enum State {
        /** It was sent, and its outcome is unknown. */
        SENT,
        /** A person is to answer what the other server asks. */
        ASKED,
        /** It is to be sent again, with the answers. */
        ANSWERED,
        /** A task on the other server works for it. */
        TASK;

        private String wire() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A call.
     *
     * @param system the other server's name
     * @param serverState what it wants to have back with the answers; null for nothing
     * @param remoteTask the task's id there; null for none
     * @param questions by their names there; null for none
     * @param answers by the same names; null for none
     * @param rounds of questions so far
     */
    public record Wait(UUID stepId, UUID workspaceId, UUID runId, UUID taskId, String system, String tool, State state,
            @Nullable String serverState, @Nullable String remoteTask, @Nullable JsonNode questions,
            @Nullable JsonNode answers, int rounds) {}

    private static final String FIND = "select * from call_waits where step_id = ?";
    private static final String PUT = """
            insert into call_waits (step_id, workspace_id, run_id, task_id, system, tool, state, server_state,
                remote_task, questions, answers, rounds, since)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?, (select {now}))
            on conflict (step_id) do update
               set state = excluded.state, server_state = excluded.server_state, remote_task = excluded.remote_task,
                   questions = excluded.questions, answers = excluded.answers, rounds = excluded.rounds,
                   since = excluded.since""".replace("{now}", DbClock.SQL);
    private static final String SEND = """
            insert into call_waits (step_id, workspace_id, run_id, task_id, system, tool, state, rounds, since)
            values (?, ?, ?, ?, ?, ?, 'sent', 0, (select {now}))
            on conflict (step_id) do nothing""".replace("{now}", DbClock.SQL);
    private static final String SEND_ANSWERED = """
            update call_waits set state = 'sent', since = (select {now})
             where step_id = ? and state = 'answered' and rounds = ?""".replace("{now}", DbClock.SQL);
    private static final String REMOVE = "delete from call_waits where step_id = ?";
    /** Tasks of steps that have ended without a result or are no more, at most 50. */
    private static final String ORPHANS = """
            delete from call_waits where step_id = any (array(
                select w.step_id from call_waits w left join orchestration_steps s on s.id = w.step_id
                 where w.remote_task is not null
                   and (s.id is null or s.state in ('failed', 'cancelled', 'skipped'))
                 order by w.since limit 50 for update of w skip locked))
            returning *""";

    private final DbClock clock;

    public CallWaits(DbClock clock) {
        this.clock = clock;
    }

    public Optional<Wait> find(Connection c, UUID step) throws SQLException {
        try (PreparedStatement find = c.prepareStatement(FIND)) {
            find.setObject(1, step);
            return Rows.all(find, CallWaits::wait).stream().findFirst();
        }
    }

    /** Stores where a call is now. */
    public void put(Connection c, Wait wait) throws SQLException {
        try (PreparedStatement put = c.prepareStatement(PUT)) {
            put.setObject(1, wait.stepId);
            put.setObject(2, wait.workspaceId);
            put.setObject(3, wait.runId);
            put.setObject(4, wait.taskId);
            put.setString(5, wait.system);
            put.setString(6, wait.tool);
            put.setString(7, wait.state.wire());
            put.setString(8, wait.serverState);
            put.setString(9, wait.remoteTask);
            put.setString(10, wait.questions == null ? null : wait.questions.toString());
            put.setString(11, wait.answers == null ? null : wait.answers.toString());
            put.setInt(12, wait.rounds);
            clock.bind(put, 13);
            put.executeUpdate();
        }
    }

    /**
     * Stores that a call is about to be sent for the first time. False when another execution of its step, perhaps of a lost
     * lease, was first.
     */
    public boolean send(Connection c, Wait wait) throws SQLException {
        try (PreparedStatement send = c.prepareStatement(SEND)) {
            send.setObject(1, wait.stepId);
            send.setObject(2, wait.workspaceId);
            send.setObject(3, wait.runId);
            send.setObject(4, wait.taskId);
            send.setString(5, wait.system);
            send.setString(6, wait.tool);
            clock.bind(send, 7);
            return send.executeUpdate() == 1;
        }
    }

    /** Stores that a call is about to be sent again with answers. False when another execution of its step was first. */
    public boolean sendAnswered(Connection c, Wait answered) throws SQLException {
        try (PreparedStatement send = c.prepareStatement(SEND_ANSWERED)) {
            clock.bind(send, 1);
            send.setObject(2, answered.stepId);
            send.setInt(3, answered.rounds);
            return send.executeUpdate() == 1;
        }
    }

    public void remove(Connection c, UUID step) throws SQLException {
        try (PreparedStatement remove = c.prepareStatement(REMOVE)) {
            remove.setObject(1, step);
            remove.executeUpdate();
        }
    }

    /** Removes and returns calls whose step has ended without their task's result. */
    public List<Wait> takeOrphans(Connection c) throws SQLException {
        try (PreparedStatement orphans = c.prepareStatement(ORPHANS)) {
            return Rows.all(orphans, CallWaits::wait);
        }
    }

    private static Wait wait(ResultSet row) throws SQLException {
        return new Wait(row.getObject("step_id", UUID.class), row.getObject("workspace_id", UUID.class),
                row.getObject("run_id", UUID.class), row.getObject("task_id", UUID.class), row.getString("system"),
                row.getString("tool"), State.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
                row.getString("server_state"), row.getString("remote_task"), json(row.getString("questions")),
                json(row.getString("answers")), row.getInt("rounds"));
    }

    private static @Nullable JsonNode json(@Nullable String text) {
        return text == null ? null : Json.read(text);
    }
}
