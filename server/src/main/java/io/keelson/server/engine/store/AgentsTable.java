package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.AgentRow;
import io.keelson.core.decide.ChangeSet.Owner;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/** {@code run_agents}. */
final class AgentsTable {

    record New(Owner owner, AgentRow row) {}

    /** The columns of the failure policy. */
    private static final List<Column<AgentRow>> KEPT = List.of(integer("attempt_number", AgentRow::attempt),
            flag("failing", AgentRow::failing), flag("failure_ignored", AgentRow::failureIgnored),
            time("next_run_at", AgentRow::nextRunAt), time("begun_at", AgentRow::begunAt));

    static final RowSetStatement<New> INSERT = new RowSetStatement<>("keelson_agent_new", """
            insert into run_agents (id, run_id, workspace_id, attempt, number, name, state, state_type, started_at,
                completed_at, attempt_number, failing, failure_ignored, next_run_at, begun_at, created_at)
            select id, run_id, workspace_id, attempt, number, name, state, state_type, started_at, completed_at,
                attempt_number, failing, failure_ignored, next_run_at, begun_at, {now}
              from {rows}""", Column.joined(List.of(
            uuid("id", n -> n.row.id()), uuid("run_id", n -> n.owner.run().id()),
            uuid("workspace_id", n -> n.owner.run().workspaceId()), integer("attempt", n -> n.owner.attempt()),
            integer("number", n -> n.row.number()), text("name", 255, n -> n.row.name()),
            word("state", n -> n.row.state().wire()), word("state_type", n -> n.row.state().type().wire()),
            time("started_at", n -> n.row.startedAt()), time("completed_at", n -> n.row.completedAt())),
            KEPT.stream().map(column -> column.of(New::row)).toList()));

    static final RowSetStatement<AgentRow> UPDATE = RowSetStatement.ofEach("keelson_agent_change", "id", """
            merge into run_agents a using {rows} on a.id = u.id
             when matched then update
               set state = u.state, state_type = u.state_type, started_at = u.started_at, completed_at = u.completed_at,
                   attempt_number = u.attempt_number, failing = u.failing, failure_ignored = u.failure_ignored,
                   next_run_at = u.next_run_at, begun_at = u.begun_at""", Column.joined(List.of(
            uuid("id", AgentRow::id), word("state", a -> a.state().wire()),
            word("state_type", a -> a.state().type().wire()), time("started_at", AgentRow::startedAt),
            time("completed_at", AgentRow::completedAt)), KEPT));

    private static final String LOAD = """
            select a.id, a.run_id, a.number, a.name, a.state, a.started_at, a.completed_at,
                a.attempt_number, a.failing, a.failure_ignored, a.next_run_at, a.begun_at
              from run_agents a
              join orchestration_runs r on r.id = a.run_id and r.attempt_number = a.attempt
             where a.run_id = any (?)
             order by a.run_id, a.number""";

    private AgentsTable() {}

    static void load(Connection c, Collection<UUID> runIds, ViewLoader loader) throws SQLException {
        ViewLoader.each(c, LOAD, runIds, row -> {
            AgentRow agent = new AgentRow(ViewLoader.uuid(row, "id"), row.getInt("number"), row.getString("name"))
                    .restore(AgentState.of(row.getString("state")), Rows.optionalTime(row, "started_at"),
                            Rows.optionalTime(row, "completed_at"))
                    .restorePolicy(row.getInt("attempt_number"), row.getBoolean("failing"),
                            row.getBoolean("failure_ignored"), Rows.optionalTime(row, "next_run_at"),
                            Rows.optionalTime(row, "begun_at"));
            loader.agents.put(agent.id(), agent);
            loader.view(row).add(agent);
        });
    }
}
