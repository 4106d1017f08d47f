package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet.EndedRequest;
import io.keelson.core.decide.ChangeSet.NewRequest;
import io.keelson.core.decide.OpenRequest;
import io.keelson.core.money.Amounts;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;

/** {@code gateway_requests} as commits write it. */
final class GatewayRequestsTable {
    static final RowSetStatement<NewRequest> INSERT = new RowSetStatement<>("keelson_gateway_request", """
            insert into gateway_requests (id, workspace_id, run_id, task_id, step_id, lease_epoch, model, k1, k2, facts,
                max_input, max_output, held_credits, sent_at)
            select id, workspace_id, run_id, task_id, step_id, lease_epoch, model, k1, k2, facts, max_input, max_output,
                held_credits, {now}
              from {rows}""",
            uuid("id", r -> r.open().id()), uuid("workspace_id", r -> r.run().workspaceId()),
            uuid("run_id", r -> r.run().id()), uuid("task_id", r -> r.step().task().id()),
            uuid("step_id", r -> r.step().id()), integer("lease_epoch", r -> r.open().epoch()),
            text("model", r -> r.open().model()), text("k1", r -> r.open().sha256()), text("k2", NewRequest::k2),
            json("facts", NewRequest::facts), bigint("max_input", r -> r.open().maxInput()),
            bigint("max_output", r -> r.open().maxOutput()), money("held_credits", r -> r.open().held()));

    static final RowSetStatement<EndedRequest> END = new RowSetStatement<>("keelson_gateway_end", """
            update gateway_requests r
               set state = u.state, usage = u.usage, cost = u.cost, answer = u.answer::json, ended_at = {now}
              from {rows}
             where r.id = u.id""",
            uuid("id", EndedRequest::id), word("state", EndedRequest::state),
            json("usage", e -> UsageText.of(e.tokens())), money("cost", EndedRequest::cost),
            text("answer", EndedRequest::answer));

    private static final String LOAD = """
            select run_id, step_id, id, lease_epoch, model, k1, sent_at, max_input, max_output, held_credits
              from gateway_requests where run_id = any (?) and state = 'open' order by sent_at, id""";

    private GatewayRequestsTable() {}

    /** After the steps and the lanes; no query where no run has an open request. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.requesting.isEmpty()) {
            ViewLoader.each(c, LOAD, loader.requesting, row -> loader.view(row).restoreRequest(
                    ViewLoader.uuid(row, "step_id"),
                    new OpenRequest(ViewLoader.uuid(row, "id"), row.getInt("lease_epoch"), row.getString("model"),
                            row.getString("k1"), Rows.time(row, "sent_at"), row.getLong("max_input"),
                            row.getLong("max_output"), Amounts.exact(row.getBigDecimal("held_credits")))));
        }
    }
}
