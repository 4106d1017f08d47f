package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet.Ticket;
import io.keelson.core.decide.TicketRow;
import io.keelson.core.lifecycle.StateType;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

/** {@code escalation_tickets}. */
final class TicketsTable {
    static final RowSetStatement<Ticket> INSERT = new RowSetStatement<>("keelson_ticket_new", """
            insert into escalation_tickets (id, workspace_id, run_id, attempt, kind, task_id, step_id, severity, reason,
                error_code, system, message, resolution, resolved_by, comment, opened_at, resolved_at)
            select id, workspace_id, run_id, attempt, kind, task_id, step_id, severity, reason, error_code,
                system, message, resolution, resolved_by, comment, opened_at, resolved_at
              from {rows}""",
            uuid("id", t -> t.row().id()), uuid("workspace_id", t -> t.run().workspaceId()),
            uuid("run_id", t -> t.run().id()), integer("attempt", t -> t.row().attempt()),
            word("kind", t -> t.row().kind().wire()), uuid("task_id", t -> t.row().taskId()),
            uuid("step_id", t -> t.row().stepId()), word("severity", t -> t.row().severity().wire()),
            text("reason", 100, t -> t.row().reason()), text("error_code", 100, t -> t.row().errorCode()),
            text("system", t -> t.row().system()),
            text("message", t -> t.row().message()), word("resolution", t -> t.row().resolution()),
            text("resolved_by", 255, t -> t.row().resolvedBy()), text("comment", t -> t.row().comment()),
            time("opened_at", t -> t.row().openedAt()), time("resolved_at", t -> t.row().resolvedAt()));

    static final RowSetStatement<Ticket> UPDATE = RowSetStatement.ofAll("keelson_ticket_change", """
            update escalation_tickets t
               set severity = u.severity, resolution = u.resolution, resolved_by = u.resolved_by, comment = u.comment,
                   resolved_at = u.resolved_at
              from {rows}
             where t.id = u.id""",
            uuid("id", t -> t.row().id()), word("severity", t -> t.row().severity().wire()),
            word("resolution", t -> t.row().resolution()), text("resolved_by", 255, t -> t.row().resolvedBy()),
            text("comment", t -> t.row().comment()), time("resolved_at", t -> t.row().resolvedAt()));

    private static final String LOAD = """
            select id, run_id, attempt, kind, task_id, step_id, severity, reason, error_code, system, message, opened_at
              from escalation_tickets
             where run_id = any (?) and resolution is null
             order by opened_at, id""";

    private TicketsTable() {}

    /** Open tickets; only held-up runs and undos have any. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        List<UUID> held = loader.views.values().stream().map(view -> view.run())
                .filter(run -> run.state().type() == StateType.PAUSED || run.policy().undo().undoes() != null)
                .map(run -> run.id()).toList();
        if (!held.isEmpty()) {
            ViewLoader.each(c, LOAD, held, row -> loader.view(row).add(ticket(row)));
        }
    }

    private static TicketRow ticket(ResultSet row) throws SQLException {
        return new TicketRow(ViewLoader.uuid(row, "id"), TicketRow.Kind.of(row.getString("kind")),
                row.getInt("attempt"), ViewLoader.uuidOrNull(row, "task_id"), ViewLoader.uuidOrNull(row, "step_id"),
                TicketRow.Severity.of(row.getString("severity")), row.getString("reason"), row.getString("error_code"),
                row.getString("system"), row.getString("message"), Rows.time(row, "opened_at"));
    }
}
