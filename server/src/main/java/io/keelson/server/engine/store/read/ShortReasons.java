package io.keelson.server.engine.store.read;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Explanation;
import io.keelson.core.run.TimerKind;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One reason each why runs wait whose tasks are too many to be read: by their states, and by numbers of questions, of steps at
 * work and of timers.
 */
public final class ShortReasons {

    private static final String FACTS = """
            select r.id, r.state,
                (select count(*) from timers w where w.run_id = r.id and w.kind = 'human') as asked,
                (select count(*) from work_queue q where q.run_id = r.id and q.holder is not null) as held,
                (select count(*) from work_queue q where q.run_id = r.id and q.holder is null) as ready,
                due.kind, due.due_at, due.number
              from orchestration_runs r
              left join lateral (
                select w.kind, w.due_at, count(*) over () as number from timers w
                 where w.run_id = r.id and w.kind in ('step_wait', 'step_retry', 'task_retry', 'agent_retry')
                 order by w.due_at limit 1) due on true
             where (r.workspace_id = ?) is true and r.id = any (?)""";

    private ShortReasons() {}

    /** Reasons by run; omits runs whose reason only their tasks contain. */
    public static Map<UUID, Explanation> of(Connection c, UUID workspace, Collection<UUID> runs) throws SQLException {
        Map<UUID, Explanation> found = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(FACTS)) {
            statement.setObject(1, workspace);
            statement.setArray(2, c.createArrayOf("uuid", runs.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    Explanation reason = reason(row);
                    if (reason != null) {
                        found.put(ViewLoader.uuid(row, "id"), reason);
                    }
                }
            }
        }
        return found;
    }

    private static @Nullable Explanation reason(ResultSet row) throws SQLException {
        return switch (RunState.of(row.getString("state"))) {
            case CREATED -> reason("NOT_STARTED", "the run was accepted and waits to be started", null);
            case PLANNING -> reason("PLANNING", "its planner makes the plan", null);
            case AWAITING_APPROVAL -> reason("PLAN_APPROVAL", "a person has to approve the plan", null);
            case PAUSED -> reason("PAUSED", "the run is paused; work in flight may finish", null);
            case BUDGET_EXCEEDED -> reason("BUDGET_EXCEEDED", "a limit of its cost has stopped it", null);
            case ESCALATED -> reason("TICKET_OPEN", "a ticket waits for its answer", null);
            case RESUMING -> reason("STARTING", "the run is being set up", null);
            case RETRYING -> reason("RUN_BACKOFF", "backoff before its next attempt", null);
            case PENDING, READY, RUNNING -> ofWork(row);
            case COMPLETED, SKIPPED, FAILED, CANCELLED -> null;
        };
    }

    private static @Nullable Explanation ofWork(ResultSet row) throws SQLException {
        long asked = row.getLong("asked");
        long held = row.getLong("held");
        long ready = row.getLong("ready");
        String timer = row.getString("kind");
        if (asked > 0) {
            return reason("APPROVAL", asked == 1 ? "a question of it waits for a person"
                    : asked + " questions of it wait for people", null);
        }
        if (held > 0) {
            return reason("RUNNING", steps(held, "is", "are") + " at work", null);
        }
        if (ready > 0) {
            return reason("QUEUED", steps(ready, "is ready and waits", "are ready and wait") + " to be claimed", null);
        }
        if (timer == null) {
            return null;
        }
        long number = row.getLong("number");
        Instant due = Rows.time(row, "due_at");
        return TimerKind.of(timer) == TimerKind.STEP_WAIT
                ? reason("TIMER", steps(number, "waits for its time", "wait for their times"), due)
                : reason("STEP_BACKOFF", "backoff before " + number + (number == 1 ? " attempt" : " attempts"), due);
    }

    private static String steps(long number, String one, String several) {
        return number + (number == 1 ? " step " + one : " steps " + several);
    }

    private static Explanation reason(String code, String text, @Nullable Instant until) {
        return new Explanation(code, text, null, null, until, List.of());
    }
}
