package io.keelson.server.outlet.statusdoc;

import io.keelson.server.base.artifact.DocumentStore;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.store.read.DocumentReader;
import io.keelson.server.engine.store.read.DocumentReader.Changed;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.engine.store.read.FeedWatermark;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the events of all runs and keeps their documents in the artifact store. Progress is recorded after the
 * documents are durable, so that after a crash some documents are written twice and no document is lost. Commits do no
 * additional work. A run whose documents cannot be written does not delay other runs: it is retried in parallel, and
 * until it succeeds no progress is recorded.
 */
public final class StatusDocuments implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(StatusDocuments.class);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(200);
    private static final Duration SWEEP_INTERVAL = Duration.ofHours(1);
    /** Event ids to follow before the progress is recorded: the ids of 400 packs. */
    private static final int CHUNK_SIZE = 400_000;
    /** With more failing runs than that the store itself has failed, and all wait. */
    private static final int MAX_POSTPONED = 1_000;
    private static final Duration RETRY_DELAY = Duration.ofSeconds(5);

    private final Database database;
    private final DocumentStore store;
    private final StatusDocumentWriter documents;
    private final FeedWatermark marks = new FeedWatermark();
    private final WriterLease writerLease = new WriterLease(UUID.randomUUID());
    /** Runs whose documents could not be written, each with its workspace. */
    private final Map<UUID, UUID> later = new LinkedHashMap<>();
    /**
     * The event id up to which all documents are written, without the postponed runs' documents; below the recorded
     * progress while no run is postponed.
     */
    private long reached = -1;
    private final BackgroundTask writing = BackgroundTask.every("status-documents", POLL_INTERVAL, this::look);
    private final BackgroundTask retrying = BackgroundTask.every("status-documents-retry", RETRY_DELAY, this::again);
    private final BackgroundTask sweeping = BackgroundTask.every("status-documents-sweep", SWEEP_INTERVAL, this::sweep);

    public StatusDocuments(Database database, DocumentStore store) {
        this.database = database;
        this.store = store;
        this.documents = new StatusDocumentWriter(database, store);
    }

    /**
     * Follows what happens from now on, or since documents were first written.
     *
     * @throws SqlFailure where the database cannot be asked
     */
    public StatusDocuments start() {
        database.runInTransaction(c -> writerLease.begin(c, FeedReader.lastId(c)));
        writing.start();
        retrying.start();
        sweeping.start();
        return this;
    }

    /** Writes changed documents, if it is this server's turn. */
    synchronized void look() {
        long settled = database.withConnection(marks::look);
        if (settled < 0 || !database.withConnection(c -> writerLease.wanted(c, settled))) {
            return;
        }
        OptionalLong written = database.inTransaction(writerLease::take);
        long at = Math.max(written.orElse(settled), later.isEmpty() ? -1 : reached);
        while (at < settled && !writing.isClosed()) {
            long from = at;
            long to = Math.min(settled, from + CHUNK_SIZE);
            List<Changed> changed = database.withConnection(c -> DocumentReader.changed(c, from, to));
            if (!writeAll(changed) || !database.inTransaction(c -> writerLease.advance(c, later.isEmpty() ? to : -1))) {
                return;
            }
            reached = to;
            at = to;
        }
    }

    private boolean writeAll(List<Changed> changed) {
        for (Changed each : changed) {
            if (writing.isClosed()) {
                return false;
            }
            try {
                if (!later.containsKey(each.run()) && !documents.write(each.workspace(), each.run())) {
                    return false;
                }
            } catch (IOException | UncheckedIOException e) {
                if (later.size() >= MAX_POSTPONED) {
                    throw new IllegalStateException("the documents of " + later.size() + " runs cannot be written", e);
                }
                later.put(each.run(), each.workspace());
                LOG.warn("could not write the status documents of run {}, retrying", each.run(), e);
            }
        }
        return true;
    }

    /** Retries the postponed runs; after a success the progress made meanwhile can be recorded. */
    synchronized void again() {
        if (later.isEmpty()) {
            return;
        }
        later.entrySet().removeIf(run -> {
            try {
                return documents.write(run.getValue(), run.getKey());
            } catch (IOException | UncheckedIOException e) {
                LOG.debug("the status documents of run {} still cannot be written", run.getKey(), e);
                return false;
            }
        });
        if (later.isEmpty() && reached >= 0) {
            database.inTransaction(c -> writerLease.advance(c, reached));
        }
    }

    /** Removes the documents of runs that are gone. */
    void sweep() {
        try {
            store.runs(found -> {
                Set<UUID> there = database.withConnection(c -> DocumentReader.there(c, found));
                for (UUID run : found) {
                    if (!there.contains(run)) {
                        remove(run);
                    }
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void remove(UUID run) throws IOException {
        try (DocumentStore.Writing gone = store.open(run)) {
            if (gone != null) {
                gone.remove();
            }
        }
    }

    public List<BackgroundTask> tasks() {
        return List.of(writing, retrying, sweeping);
    }

    @Override
    public void close() throws InterruptedException {
        writing.close();
        retrying.close();
        sweeping.close();
        try {
            database.runInTransaction(writerLease::leave);
        } catch (SqlFailure e) {
            LOG.warn("could not release the lease of status documents: {}", e.getMessage());
        }
    }
}
