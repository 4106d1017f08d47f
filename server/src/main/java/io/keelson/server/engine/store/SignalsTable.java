package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.NewSignal;
import io.keelson.core.decide.ChangeSet.TakenSignal;
import io.keelson.core.run.Signal;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

/** {@code run_signals}. */
final class SignalsTable {
    static final RowSetStatement<NewSignal> INSERT = new RowSetStatement<>("keelson_signal_new", """
            insert into run_signals (id, workspace_id, run_id, seq, name, payload, sent_by, received_at, step_id,
                taken_at)
            select id, workspace_id, run_id, seq, name, payload, sent_by, received_at, step_id, taken_at from {rows}""",
            uuid("id", s -> s.signal().id()), uuid("workspace_id", s -> s.run().workspaceId()),
            uuid("run_id", s -> s.run().id()), bigint("seq", NewSignal::seq), text("name", s -> s.signal().name()),
            json("payload", s -> s.signal().payload()), text("sent_by", 255, s -> s.actor().id()),
            time("received_at", NewSignal::at), uuid("step_id", NewSignal::takenBy),
            time("taken_at", s -> s.takenBy() == null ? null : s.at()));

    static final RowSetStatement<TakenSignal> TAKE = RowSetStatement.ofAll("keelson_signal_taken", """
            update run_signals s set step_id = u.step_id, taken_at = u.taken_at
              from {rows}
             where s.id = u.id and s.step_id is null""",
            uuid("id", TakenSignal::id), uuid("step_id", TakenSignal::stepId), time("taken_at", TakenSignal::at));

    private static final String LOAD = """
            select id, run_id, name, step_id, case when step_id is null then payload end as payload
              from run_signals
             where run_id = any (?)
             order by run_id, seq""";

    private SignalsTable() {}

    /** Queries only runs that have received signals. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.signalled.isEmpty()) {
            ViewLoader.each(c, LOAD, loader.signalled, row -> {
                UUID id = ViewLoader.uuid(row, "id");
                if (ViewLoader.uuidOrNull(row, "step_id") == null) {
                    loader.view(row).add(new Signal(id, row.getString("name"), row.getString("payload")));
                } else {
                    loader.view(row).addTakenSignal(id);
                }
            });
        }
    }
}
