package io.keelson.server.engine.upkeep;

import io.keelson.core.run.Ids;
import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactRules;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.store.archive.RunArchive.Due;
import io.keelson.server.engine.store.archive.RunArchive.Packed;
import io.keelson.server.engine.store.archive.RunArchive.Part;
import io.keelson.server.engine.store.archive.TableColumns;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves runs that ended long ago to the archive: reads some, stores them as one object, reads that back, and replaces their rows in one
 * transaction. After a crash at any point another node begins again with the runs that still have rows; an object without a record is
 * removed like other orphans of the store. Two nodes that move a run at once: the transaction of the second one finds no rows.
 */
public final class RunArchiver implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RunArchiver.class);
    private static final int BATCH_SIZE = 500;
    private static final int MAX_RUNS = 100;
    private static final int FULL_BYTES = 8 << 20;
    /** PostgreSQL: the transaction changes a row that another one has changed since its snapshot. */
    private static final String OVERTAKEN = "40001";
    private static final String GZIP = "application/gzip";

    /**
     * When runs are archived.
     *
     * @param after the end of a run; null: never
     * @param delete after the end of a run, from the archive; null: never
     */
    public record Ages(@Nullable Duration after, @Nullable Duration delete) {
        public static final Ages NEVER = new Ages(null, null);
    }

    /** The points between the steps of a move, in their order. */
    public enum Point {
        READ, STORED, VERIFIED, REPLACED, COMMITTED
    }

    /** Follows the archiver. */
    public interface Observer {

        Observer NONE = new Observer() {};

        /** A move has come to that point. */
        default void at(Point point) {}

        default void onArchived(int runs, long bytes) {}

        default void onDeleted(int runs) {}

        /** A run has more rows than a part of the archive may have, or its object could not be stored. */
        default void onFailed() {}
    }

    private final Database database;
    private final RunArchive archive;
    private final ArtifactStore store;
    private final Ages ages;
    private final Ids ids;
    private final Observer observer;
    private final BackgroundTask task = BackgroundTask.every("run-archive", Sweeps.INTERVAL, this::sweep);

    public RunArchiver(Database database, RunArchive archive, ArtifactStore store, Ages ages, Ids ids,
            Observer observer) {
        this.database = database;
        this.archive = archive;
        this.store = store;
        this.ages = ages;
        this.ids = ids;
        this.observer = observer;
    }

    /** Starts periodic runs. */
    public RunArchiver start() {
        task.startWithin(Sweeps.FIRST);
        return this;
    }

    private void sweep() {
        archive();
        delete();
    }

    /** Archives runs after their time; returns their number. */
    public int archive() {
        Duration after = ages.after();
        if (after == null) {
            return 0;
        }
        int moved = 0;
        for (UUID workspace : database.withConnection(RunArchive::workspaces)) {
            moved += archive(workspace, after);
        }
        return moved;
    }

    private int archive(UUID workspace, Duration age) {
        int moved = 0;
        Due last = Due.NONE;
        List<Due> found;
        do {
            Due from = last;
            found = database.inTransaction(c -> archive.due(c, workspace, age, from, BATCH_SIZE));
            if (found.isEmpty()) {
                return moved;
            }
            TableColumns columns = database.withConnection(TableColumns::of);
            List<Packed> pack = new ArrayList<>();
            long bytes = 0;
            for (Due each : found) {
                if (task.isClosed()) {
                    return moved;
                }
                Optional<Packed> read = read(columns, workspace, each.runId());
                read.ifPresent(pack::add);
                bytes += read.map(run -> run.content().length).orElse(0);
                if (pack.size() == MAX_RUNS || bytes >= FULL_BYTES) {
                    moved += move(workspace, pack, age);
                    pack = new ArrayList<>();
                    bytes = 0;
                }
                last = each;
            }
            moved += pack.isEmpty() ? 0 : move(workspace, pack, age);
        } while (found.size() == BATCH_SIZE);
        return moved;
    }

    private Optional<Packed> read(TableColumns columns, UUID workspace, UUID run) {
        Optional<Packed> read = inSnapshot(c -> {
            try {
                return RunArchive.pack(c, columns, workspace, run);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        if (read.isEmpty()) {
            observer.onFailed();
            LOG.warn("run {} stays in the tables: it has more rows than the archive stores of a run, or is gone", run);
        }
        return read;
    }

    private int move(UUID workspace, List<Packed> runs, Duration age) {
        observer.at(Point.READ);
        UUID object = ids.next();
        List<Part> parts = parts(runs);
        StoredArtifact file;
        try (InputStream content = new SequenceInputStream(Collections.enumeration(
                runs.stream().map(run -> new ByteArrayInputStream(run.content())).toList()))) {
            file = store.put(new ArtifactOwner(workspace, object, object, 0, 0), "runs.jsonl.gz", GZIP, content);
            observer.at(Point.STORED);
            verify(file);
            observer.at(Point.VERIFIED);
        } catch (IOException e) {
            observer.onFailed();
            LOG.warn("could not store {} runs in the archive; they stay in the tables", runs.size(), e);
            return 0;
        }
        List<UUID> moved = replace(object, file, parts, age);
        observer.at(Point.COMMITTED);
        if (moved.isEmpty()) {
            remove(file);
        } else {
            observer.onArchived(moved.size(), file.sizeBytes());
        }
        return moved.size();
    }

    private static List<Part> parts(List<Packed> runs) {
        List<Part> parts = new ArrayList<>();
        long first = 0;
        for (Packed run : runs) {
            parts.add(new Part(run, first, HexFormat.of().formatHex(ArtifactRules.sha256().digest(run.content()))));
            first += run.content().length;
        }
        return parts;
    }

    private void verify(StoredArtifact file) throws IOException {
        MessageDigest digest = ArtifactRules.sha256();
        try (InputStream content = new DigestInputStream(store.open(file.storageKey()), digest)) {
            content.transferTo(OutputStream.nullOutputStream());
        }
        if (!HexFormat.of().formatHex(digest.digest()).equals(file.sha256())) {
            throw new IOException("the artifact store has other content than it was given for " + file.storageKey());
        }
    }

    /** None if a row has changed meanwhile: the next sweep begins again. */
    private List<UUID> replace(UUID object, StoredArtifact file, List<Part> parts, Duration age) {
        try {
            return inSnapshot(c -> {
                try {
                    List<UUID> moved = archive.move(c, object, file, parts, age);
                    observer.at(Point.REPLACED);
                    return moved;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (SqlFailure e) {
            if (!e.sqlState().equals(OVERTAKEN)) {
                throw e;
            }
            LOG.debug("a run has changed while it was archived", e);
            return List.of();
        }
    }

    private void remove(StoredArtifact file) {
        try {
            store.delete(file.storageKey());
        } catch (IOException e) {
            LOG.debug("an object without runs stays until it is swept", e);
        }
    }

    private <T> T inSnapshot(TxFunction<T> work) {
        return database.inTransaction(c -> {
            repeatable(c);
            return work.apply(c);
        });
    }

    private static void repeatable(Connection c) throws SQLException {
        try (var statement = c.createStatement()) {
            statement.execute("set transaction isolation level repeatable read");
        }
    }

    /** Deletes archived runs, and forgets files of artifacts that have expired; returns the number of runs. */
    public int delete() {
        int deleted = 0;
        Duration age = ages.delete();
        if (age != null) {
            for (UUID workspace : database.withConnection(RunArchive::workspaces)) {
                int some;
                do {
                    some = database.inTransaction(c -> archive.expire(c, workspace, age, BATCH_SIZE));
                    deleted += some;
                } while (some > 0 && !task.isClosed());
            }
            if (deleted > 0) {
                observer.onDeleted(deleted);
            }
        }
        int files;
        do {
            files = database.withConnection(c -> archive.expireFiles(c, BATCH_SIZE));
        } while (files == BATCH_SIZE && !task.isClosed());
        return deleted;
    }

    public List<BackgroundTask> tasks() {
        return List.of(task);
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
