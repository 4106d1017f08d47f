package io.keelson.server.engine.upkeep;

import io.keelson.core.run.Ids;
import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.retention.EventRetention;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.time.Duration;
import java.util.Enumeration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves events of long-ended runs to the archive, and later to files. Each move is one transaction and moves events
 * once. After a crash at any point another node continues. A written file without a record is removed like other
 * orphans of the store.
 */
public final class EventSweeper implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EventSweeper.class);
    private static final int BATCH_SIZE = 1_000;
    private static final String JSON_LINES = "application/jsonl";

    /**
     * Retention of events.
     *
     * @param hot after the end of their run, in the main table; then they go to the archive
     * @param archive after the end of their run, in the database; then they go to files
     */
    public record Ages(Duration hot, Duration archive) {}

    private final Database database;
    private final EventRetention life;
    private final ArtifactStore store;
    private final Ages ages;
    private final Ids ids;
    private final BackgroundTask task = BackgroundTask.every("event-retention", Sweeps.INTERVAL, this::sweep);

    public EventSweeper(Database database, EventRetention life, ArtifactStore store, Ages ages, Ids ids) {
        this.database = database;
        this.life = life;
        this.store = store;
        this.ages = ages;
        this.ids = ids;
    }

    /** Starts periodic runs. */
    public EventSweeper start() {
        task.startWithin(Sweeps.FIRST);
        return this;
    }

    private void sweep() {
        archive();
        export();
    }

    /** Archives events after their retention; returns their number. */
    long archive() {
        long moved = 0;
        Long after = 0L;
        while (after != null && !task.isClosed()) {
            long from = after;
            EventRetention.Found found =
                    database.withConnection(c -> life.ended(c, false, ages.hot(), from, BATCH_SIZE));
            for (EventRetention.Ended run : found.runs()) {
                int some;
                do {
                    some = database.inTransaction(c -> life.mine(c) ? life.archive(c, run.runId(), BATCH_SIZE) : 0);
                    moved += some;
                } while (some >= BATCH_SIZE && !task.isClosed());
            }
            after = found.last();
        }
        return moved;
    }

    /** Exports archived events after their retention; returns the number of runs. */
    int export() {
        int files = 0;
        Long after = 0L;
        while (after != null && !task.isClosed()) {
            long from = after;
            EventRetention.Found found =
                    database.withConnection(c -> life.ended(c, true, ages.archive(), from, BATCH_SIZE));
            for (EventRetention.Ended run : found.runs()) {
                files += !task.isClosed() && export(run) ? 1 : 0;
            }
            after = found.last();
        }
        return files;
    }

    /** False when there was nothing to export, or the store refused it. */
    private boolean export(EventRetention.Ended run) {
        Pages pages = new Pages(run.runId());
        if (!pages.hasMoreElements()) {
            return false;
        }
        long first = pages.next.firstSeq();
        ArtifactOwner owner = new ArtifactOwner(run.workspaceId(), run.runId(), run.runId(), 0, 0);
        StoredArtifact file;
        try (InputStream lines = new SequenceInputStream(pages)) {
            file = store.put(owner, "events.jsonl", JSON_LINES, lines);
        } catch (IOException e) {
            LOG.warn("could not export events of run {}; they stay in the archive", run.runId(), e);
            return false;
        }
        UUID id = ids.next();
        return database.inTransaction(c -> {
            if (!life.mine(c)) {
                return false;
            }
            life.exported(c, id, run, new EventRetention.File(first, pages.last, file.sizeBytes(), file.sha256(),
                    file.storageKey()));
            return true;
        });
    }

    /** A run's archived events as text, read while they are written. */
    @SuppressWarnings("JdkObsolete") // required by SequenceInputStream
    private final class Pages implements Enumeration<InputStream> {
        private final UUID run;
        private EventRetention.Lines next;
        /** The last event returned. */
        private long last;

        private Pages(UUID run) {
            this.run = run;
            this.next = read(0);
        }

        private EventRetention.Lines read(long after) {
            return database.withConnection(c -> life.lines(c, run, after, BATCH_SIZE));
        }

        @Override
        public boolean hasMoreElements() {
            return next.count() > 0;
        }

        @Override
        public InputStream nextElement() {
            if (!hasMoreElements()) {
                throw new NoSuchElementException();
            }
            InputStream lines = new ByteArrayInputStream(next.lines());
            last = next.lastSeq();
            next = read(last);
            return lines;
        }
    }

    public List<BackgroundTask> tasks() {
        return List.of(task);
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
