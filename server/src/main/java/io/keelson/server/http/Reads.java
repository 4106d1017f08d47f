package io.keelson.server.http;

import io.keelson.server.db.Database;
import io.keelson.server.db.DbClock;
import io.keelson.server.db.SqlFailure;
import io.keelson.server.db.TxFunction;
import io.keelson.server.run.ProposalReader;
import io.keelson.server.run.RunReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Reads of one workspace's runs; what does not exist there is refused with the kind's own code. */
final class Reads {

    static final ProposalReader PROPOSALS = new ProposalReader(DbClock.DATABASE);

    private static final int PATIENCE_SECONDS = 2;

    private final Database database;
    private final RunReader reader;

    Reads(Database database, RunReader reader) {
        this.database = database;
        this.reader = reader;
    }

    /** A query of the reader's. */
    interface Query<T> {
        T of(RunReader reader, Connection connection) throws SQLException;
    }

    <T> T read(Query<T> query) {
        TxFunction<T> work = connection -> query.of(reader, connection);
        return database.withConnection(work);
    }

    /** Whether the database answers. */
    boolean answer() {
        try {
            return read((runs, c) -> c.isValid(PATIENCE_SECONDS));
        } catch (SqlFailure e) {
            return false;
        }
    }

    /** As {@link #read} on something that belongs to a run. */
    <T> T ofRun(UUID workspace, UUID run, Query<T> query) {
        return read((runs, c) -> {
            found(runs.state(c, workspace, run), IdKind.RUN, run);
            return query.of(runs, c);
        });
    }

    void requireRun(UUID workspace, UUID run) {
        var _ = ended(workspace, run);
    }

    ObjectNode status(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.status(c, workspace, run), IdKind.RUN, run));
    }

    /** The number of the run's last event. */
    long lastEvent(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.lastEvent(c, workspace, run), IdKind.RUN, run));
    }

    ObjectNode states(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.states(c, workspace, run), IdKind.RUN, run));
    }

    /** Whether the run has ended. */
    boolean ended(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.state(c, workspace, run), IdKind.RUN, run)).terminal();
    }

    boolean exists(UUID workspace, UUID run) {
        return read((runs, c) -> runs.state(c, workspace, run)).isPresent();
    }

    ObjectNode run(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.run(c, workspace, run), IdKind.RUN, run));
    }

    ObjectNode task(UUID workspace, UUID task) {
        return read((runs, c) -> found(runs.task(c, workspace, task), IdKind.TASK, task));
    }

    ObjectNode step(UUID workspace, UUID step) {
        return read((runs, c) -> found(runs.step(c, workspace, step), IdKind.STEP, step));
    }

    ObjectNode escalation(UUID workspace, UUID ticket) {
        return read((runs, c) -> found(runs.escalation(c, workspace, ticket), IdKind.ESCALATION, ticket));
    }

    ObjectNode proposal(UUID workspace, UUID id) {
        return found(findProposal(workspace, id), IdKind.PROPOSAL, id);
    }

    Optional<ObjectNode> findProposal(UUID workspace, UUID id) {
        return read((runs, c) -> PROPOSALS.proposal(c, workspace, id));
    }

    static <T> T found(Optional<T> row, IdKind kind, UUID id) {
        return row.orElseThrow(() -> kind.notFound(id));
    }
}
