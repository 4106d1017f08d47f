package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet.Proposal;
import io.keelson.core.decide.ChangeSet.ProposalEnd;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;

/** {@code proposals} as commits write them. */
final class ProposalsTable {
    static final RowSetStatement<Proposal> INSERT = new RowSetStatement<>("keelson_proposal_new", """
            insert into proposals (id, workspace_id, run_id, attempt, task_id, step_id, title, body, data, created_at,
                expires_at)
            select id, workspace_id, run_id, attempt, task_id, step_id, title, body, data, created_at, expires_at
              from {rows}""",
            uuid("id", p -> p.made().id()), uuid("workspace_id", Proposal::workspaceId),
            uuid("run_id", Proposal::runId), integer("attempt", Proposal::attempt), uuid("task_id", Proposal::taskId),
            uuid("step_id", Proposal::stepId), text("title", 200, p -> p.made().title()),
            text("body", p -> p.made().body()), json("data", p -> p.made().data()),
            time("created_at", Proposal::createdAt), time("expires_at", Proposal::expiresAt));

    static final RowSetStatement<ProposalEnd> UPDATE = RowSetStatement.ofAll("keelson_proposal_end", """
            update proposals p
               set state = u.state, decided_at = u.decided_at, decided_by = u.decided_by, comment = u.comment
              from {rows}
             where p.id = u.id and p.state = 'pending'""",
            uuid("id", ProposalEnd::id), word("state", ProposalEnd::state), time("decided_at", ProposalEnd::at),
            text("decided_by", 255, ProposalEnd::by), text("comment", ProposalEnd::comment));

    private static final String LOAD = """
            select run_id, id, expires_at from proposals
             where run_id = any (?) and state = 'pending'
             order by id""";

    private ProposalsTable() {}

    /** Pending proposals; no query where no run has any. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.proposing.isEmpty()) {
            ViewLoader.each(c, LOAD, loader.proposing,
                    row -> loader.view(row).propose(ViewLoader.uuid(row, "id"), Rows.optionalTime(row, "expires_at")));
        }
    }
}
