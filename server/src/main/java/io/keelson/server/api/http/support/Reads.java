package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.store.read.Detail;
import io.keelson.server.engine.store.read.ProposalReader;
import io.keelson.server.engine.store.read.RunReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Reads of one workspace's runs; what does not exist there is refused with the kind's own code. */
public final class Reads {

    public static final ProposalReader PROPOSALS = new ProposalReader(DbClock.DATABASE);

    private static final int TIMEOUT_SECONDS = 2;

    private final Database database;
    private final RunReader reader;
    private final SharedRunReads shared = new SharedRunReads(RunReader.SOME,
            (workspace, runs) -> read((reader, c) -> reader.someRuns(c, workspace, runs)));

    private final ArchivedRuns archived;

    public Reads(Database database, RunReader reader, ArchivedRuns archived) {
        this.database = database;
        this.reader = reader;
        this.archived = archived;
    }

    /** A query of the reader's. */
    public interface Query<T> {
        T of(RunReader reader, Connection connection) throws SQLException;
    }

    public <T> T read(Query<T> query) {
        TxFunction<T> work = connection -> query.of(reader, connection);
        return database.withConnection(work);
    }

    /** Whether the database answers. */
    public boolean answer() {
        try {
            return read((runs, c) -> c.isValid(TIMEOUT_SECONDS));
        } catch (SqlFailure e) {
            return false;
        }
    }

    /** Reads an object of a run; 404 if the run does not exist. */
    public <T> T ofRun(UUID workspace, UUID run, Query<T> query) {
        return read((runs, c) -> {
            found(runs.state(c, workspace, run), IdKind.RUN, run);
            return query.of(runs, c);
        });
    }

    public void requireRun(UUID workspace, UUID run) {
        var _ = ended(workspace, run);
    }

    public ObjectNode status(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.status(c, workspace, run), IdKind.RUN, run));
    }

    /** The number of the run's last event. */
    public long lastEvent(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.lastEvent(c, workspace, run), IdKind.RUN, run));
    }

    public ObjectNode states(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.states(c, workspace, run), IdKind.RUN, run));
    }

    /** Whether the run has ended. */
    public boolean ended(UUID workspace, UUID run) {
        return read((runs, c) -> found(runs.state(c, workspace, run), IdKind.RUN, run)).terminal();
    }

    public boolean exists(UUID workspace, UUID run) {
        return read((runs, c) -> runs.state(c, workspace, run)).isPresent();
    }

    public ObjectNode run(UUID workspace, UUID run) {
        return run(workspace, run, Detail.WHOLE);
    }

    public ObjectNode run(UUID workspace, UUID run, Detail detail) {
        return found(here(workspace, run, detail)
                .or(() -> archived.read(workspace, run, () -> here(workspace, run, detail).orElseThrow())), IdKind.RUN,
                run);
    }

    /** With the time of its archiving, if it is read from the archive. */
    private Optional<ObjectNode> here(UUID workspace, UUID run, Detail detail) {
        Optional<ObjectNode> found = read((runs, c) -> runs.run(c, workspace, run, detail));
        RunArchive.Place from = ArchivedRuns.recalled();
        found.filter(row -> from != null && from.runId().equals(run))
                .ifPresent(row -> row.put("archived_at", Json.time(from == null ? null : from.archivedAt())));
        return found;
    }

    /**
     * Reads a run with one query for all concurrent callers. For requests that runs answer in batches. The document is
     * shared, so it must not be changed.
     */
    public ObjectNode sharedRun(UUID workspace, UUID run) {
        ObjectNode found = shared.read(workspace, run);
        return found == null ? run(workspace, run) : found;
    }

    public ObjectNode task(UUID workspace, UUID task) {
        return task(workspace, task, Detail.WHOLE);
    }

    public ObjectNode task(UUID workspace, UUID task, Detail detail) {
        return read((runs, c) -> found(runs.task(c, workspace, task, detail), IdKind.TASK, task));
    }

    public ObjectNode step(UUID workspace, UUID step) {
        return step(workspace, step, Detail.WHOLE);
    }

    public ObjectNode step(UUID workspace, UUID step, Detail detail) {
        return read((runs, c) -> found(runs.step(c, workspace, step, detail), IdKind.STEP, step));
    }

    public ObjectNode escalation(UUID workspace, UUID ticket) {
        return read((runs, c) -> found(runs.escalation(c, workspace, ticket), IdKind.ESCALATION, ticket));
    }

    public ObjectNode proposal(UUID workspace, UUID id) {
        return found(findProposal(workspace, id), IdKind.PROPOSAL, id);
    }

    public Optional<ObjectNode> findProposal(UUID workspace, UUID id) {
        return read((runs, c) -> PROPOSALS.proposal(c, workspace, id));
    }

    public static <T> T found(Optional<T> row, IdKind kind, UUID id) {
        return row.orElseThrow(() -> kind.notFound(id));
    }
}
