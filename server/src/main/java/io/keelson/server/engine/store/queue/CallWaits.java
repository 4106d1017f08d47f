package io.keelson.server.engine.store.queue;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
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

    /** The state of a call. */
    public enum State {
        /** It was sent, and its outcome is unknown. */
        SENT,
        /** A person must answer the other server's question. */
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
     * @param serverState opaque state that the answers return to the server; null if absent
     * @param remoteTask the task's id there; null if absent
     * @param questions by their names there; null if absent
     * @param answers by the same names; null if absent
     * @param rounds of questions so far
     */
    public record Wait(UUID stepId, UUID workspaceId, UUID runId, UUID taskId, String system, String tool, State state,
            @Nullable String serverState, @Nullable String remoteTask, @Nullable JsonNode questions,
            @Nullable JsonNode answers, int rounds) {}

    private static final String FIND = "select * from call_waits where step_id = ?";
    /** Whether the step is executed under the lease. */
    private static final String LEASED = """
            exists (select from orchestration_steps s where s.id = ? and s.lease_epoch = ? and s.state = 'running')""";
    private static final String PUT = """
            insert into call_waits (step_id, workspace_id, run_id, task_id, system, tool, state, server_state,
                remote_task, questions, answers, rounds, since)
            select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::json, ?::jsonb, ?, {now} where {leased}
            on conflict (step_id) do update
               set state = excluded.state, server_state = excluded.server_state, remote_task = excluded.remote_task,
                   questions = excluded.questions, answers = excluded.answers, rounds = excluded.rounds,
                   since = excluded.since""".replace("{now}", DbClock.SQL).replace("{leased}", LEASED);
    private static final String SEND = """
            insert into call_waits (step_id, workspace_id, run_id, task_id, system, tool, state, rounds, since)
            select ?, ?, ?, ?, ?, ?, 'sent', 0, {now} where {leased}
            on conflict (step_id) do nothing""".replace("{now}", DbClock.SQL).replace("{leased}", LEASED);
    private static final String SEND_ANSWERED = """
            update call_waits set state = 'sent', since = (select {now})
             where step_id = ? and state = 'answered' and rounds = ? and {leased}""".replace("{now}", DbClock.SQL)
            .replace("{leased}", LEASED);
    private static final String REMOVE = "delete from call_waits where step_id = ? and " + LEASED;
    /** Calls of steps that have ended or are no more, at most 500. */
    private static final String ENDED = """
            with ended as (
                select w.step_id, s.state as step_state
                  from call_waits w left join orchestration_steps s on s.id = w.step_id
                 where s.id is null or s.state in ('completed', 'failed', 'cancelled', 'skipped')
                 order by w.since limit 500 for update of w skip locked),
            removed as (
                delete from call_waits w using ended e where w.step_id = e.step_id returning w.*, e.step_state)
            select * from removed where remote_task is not null and step_state is distinct from 'completed'""";
    private static final String ANSWERED = """
            select w.* from call_waits w join orchestration_steps s on s.id = w.step_id
             where w.state = 'answered' and w.answers is not null and s.state = 'running'
               and s.next_run_at > {now}
             order by w.since limit 500""".replace("{now}", DbClock.SQL);

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

    /**
     * Stores where a call is now.
     *
     * @param epoch of the lease under which the call's step is executed
     * @return false when that is another one now, and nothing is stored
     */
    public boolean put(Connection c, Wait wait, int epoch) throws SQLException {
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
            bind(put, 14, wait.stepId, epoch);
            return put.executeUpdate() == 1;
        }
    }

    private static void bind(PreparedStatement statement, int at, UUID step, int epoch) throws SQLException {
        statement.setObject(at, step);
        statement.setInt(at + 1, epoch);
    }

    /**
     * Stores that a call is about to be sent for the first time. False when another execution of its step was first, or has the
     * lease.
     */
    public boolean send(Connection c, Wait wait, int epoch) throws SQLException {
        try (PreparedStatement send = c.prepareStatement(SEND)) {
            send.setObject(1, wait.stepId);
            send.setObject(2, wait.workspaceId);
            send.setObject(3, wait.runId);
            send.setObject(4, wait.taskId);
            send.setString(5, wait.system);
            send.setString(6, wait.tool);
            clock.bind(send, 7);
            bind(send, 8, wait.stepId, epoch);
            return send.executeUpdate() == 1;
        }
    }

    /** Stores that a call is about to be sent again with answers. False as {@link #send}. */
    public boolean sendAnswered(Connection c, Wait answered, int epoch) throws SQLException {
        try (PreparedStatement send = c.prepareStatement(SEND_ANSWERED)) {
            clock.bind(send, 1);
            send.setObject(2, answered.stepId);
            send.setInt(3, answered.rounds);
            bind(send, 4, answered.stepId, epoch);
            return send.executeUpdate() == 1;
        }
    }

    /** Removes a call, if its step is still executed under the lease. */
    public void remove(Connection c, UUID step, int epoch) throws SQLException {
        try (PreparedStatement remove = c.prepareStatement(REMOVE)) {
            remove.setObject(1, step);
            bind(remove, 2, step, epoch);
            remove.executeUpdate();
        }
    }

    /** Removes calls whose step has ended, and returns the calls that leave a remote task behind. */
    public List<Wait> takeEnded(Connection c) throws SQLException {
        try (PreparedStatement ended = c.prepareStatement(ENDED)) {
            return Rows.all(ended, CallWaits::wait);
        }
    }

    /** Calls that a person has answered, and whose step does not know it yet. */
    public List<Wait> answered(Connection c) throws SQLException {
        try (PreparedStatement answered = c.prepareStatement(ANSWERED)) {
            clock.bind(answered, 1);
            return Rows.all(answered, CallWaits::wait);
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
