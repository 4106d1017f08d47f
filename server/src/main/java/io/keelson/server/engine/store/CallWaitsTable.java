package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.CallRow;
import io.keelson.core.decide.ChangeSet.Call;
import io.keelson.core.decide.ChangeSet.CallAnswer;
import io.keelson.core.run.CallWait;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

/** {@code call_waits} as commits write them. A row of an ended step stays until {@code queue.CallWaits} takes it. */
final class CallWaitsTable {
    /** The questions are text in the row type, because jsonb would change the order of a form's fields. */
    static final RowSetStatement<Call> PUT = new RowSetStatement<>("keelson_call_wait", """
            insert into call_waits as w (step_id, workspace_id, run_id, task_id, system, tool, state, server_state,
                remote_task, questions, answers, rounds, lease_epoch, since)
            select step_id, workspace_id, run_id, task_id, system, tool, state, server_state, remote_task,
                questions::json, answers, rounds, lease_epoch, {now}
              from {rows}
            on conflict (step_id) do update
               set state = excluded.state, server_state = excluded.server_state, remote_task = excluded.remote_task,
                   questions = excluded.questions, answers = excluded.answers, rounds = excluded.rounds,
                   lease_epoch = excluded.lease_epoch, since = excluded.since,
                   answered_by = case when excluded.state <> 'asked' then w.answered_by end""",
            uuid("step_id", c -> c.step().id()), uuid("workspace_id", c -> c.run().workspaceId()),
            uuid("run_id", c -> c.run().id()), uuid("task_id", c -> c.step().task().id()),
            text("system", c -> c.now().system()), text("tool", c -> c.now().tool()),
            word("state", c -> c.now().state().wire()), text("server_state", c -> c.now().serverState()),
            text("remote_task", c -> c.now().remoteTask()), text("questions", c -> c.now().questions()),
            json("answers", c -> c.now().answers()), integer("rounds", c -> c.now().rounds()),
            integer("lease_epoch", Call::epoch));

    static final RowSetStatement<CallAnswer> ANSWER = RowSetStatement.ofAll("keelson_call_answer", """
            update call_waits w set state = 'answered', answers = u.answers, answered_by = u.answered_by
              from {rows}
             where w.step_id = u.step_id and w.state = 'asked'""",
            uuid("step_id", CallAnswer::stepId), json("answers", CallAnswer::answers),
            text("answered_by", 255, a -> a.by().id()));

    static final RowSetStatement<UUID> FORGET = new RowSetStatement<>("keelson_step_key", """
            delete from call_waits w using {rows} where w.step_id = u.step_id""", uuid("step_id", id -> id));

    private static final String LOAD =
            "select run_id, step_id, state, rounds, lease_epoch from call_waits where run_id = any (?)";

    private CallWaitsTable() {}

    /** After the steps; no query where no run has a call that waits. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.calling.isEmpty()) {
            ViewLoader.each(c, LOAD, loader.calling,
                    row -> loader.view(row).restoreCall(ViewLoader.uuid(row, "step_id"),
                            new CallRow(CallWait.State.of(row.getString("state")), row.getInt("rounds"),
                                    row.getInt("lease_epoch"))));
        }
    }
}
