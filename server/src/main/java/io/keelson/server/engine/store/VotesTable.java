package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Vote;
import io.keelson.core.decide.ChangeSet.VoteKey;
import io.keelson.core.decide.VoteRow;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

/** {@code approval_votes}: approvals of questions that require several people. */
final class VotesTable {
    static final RowSetStatement<Vote> PUT = new RowSetStatement<>("keelson_vote", """
            insert into approval_votes (run_id, subject, voter, workspace_id, question, digest, reason, voted_at)
            select run_id, subject, voter, workspace_id, question, digest, reason, voted_at from {rows}
            on conflict (run_id, subject, voter) do update
               set question = excluded.question, digest = excluded.digest, reason = excluded.reason,
                   voted_at = excluded.voted_at""",
            uuid("run_id", v -> v.run().id()), uuid("subject", v -> v.row().subject()),
            text("voter", v -> v.row().voter()), uuid("workspace_id", v -> v.run().workspaceId()),
            text("question", v -> v.row().question()), text("digest", v -> v.row().digest()),
            text("reason", v -> v.row().reason()), time("voted_at", v -> v.row().votedAt()));

    static final RowSetStatement<VoteKey> REMOVE = new RowSetStatement<>("keelson_vote_key", """
            delete from approval_votes v using {rows}
             where v.run_id = u.run_id and v.subject = u.subject and v.voter = u.voter""",
            uuid("run_id", VoteKey::runId), uuid("subject", VoteKey::subject), text("voter", VoteKey::voter));

    private static final String LOAD = """
            select run_id, subject, voter, question, digest, reason, voted_at
              from approval_votes where run_id = any (?) order by voted_at, voter""";

    private VotesTable() {}

    /** Queries only runs that have any. */
    static void load(Connection c, ViewLoader loader) throws SQLException {
        if (!loader.voted.isEmpty()) {
            ViewLoader.each(c, LOAD, loader.voted, row -> loader.view(row).add(new VoteRow(
                    ViewLoader.uuid(row, "subject"), row.getString("voter"), row.getString("question"),
                    row.getString("digest"), row.getString("reason"),
                    Objects.requireNonNull(Rows.optionalTime(row, "voted_at")))));
        }
    }
}
