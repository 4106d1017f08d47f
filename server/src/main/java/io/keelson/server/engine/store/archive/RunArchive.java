package io.keelson.server.engine.store.archive;

import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.read.ArchivedRunReader;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The archive of runs: reads the rows of a run, replaces them by a row of the archive, and inserts them again. Methods use the given
 * connection, within a transaction of the caller.
 */
public final class RunArchive {

    private static final Instant BEGINNING = Instant.EPOCH;
    private static final UUID FIRST = new UUID(0, 0);

    /** A run that may be archived. */
    public record Due(UUID runId, Instant createdAt) {

        /** Before all others. */
        public static final Due NONE = new Due(FIRST, BEGINNING);
    }

    /**
     * A run whose rows have been read.
     *
     * @param content in the format of the archive
     */
    public record Packed(UUID workspaceId, UUID runId, byte[] content, List<ArchivedRows.Sum> sums, List<UUID> parts,
            String document) {}

    /**
     * The place of an archived run.
     *
     * @param readsFrom the run that it was forked from; null if absent
     */
    public record Place(UUID workspaceId, UUID runId, UUID objectId, String storageKey, long firstByte, int sizeBytes,
            String sha256, Instant archivedAt, @Nullable UUID readsFrom) {}

    /** A run within a stored object. */
    public record Part(Packed run, long firstByte, String sha256) {}

    /** The archive of a workspace. */
    public record Use(long runs, int objects, long bytes, @Nullable Instant oldest, @Nullable Instant newest) {}

    private final DbClock clock;

    public RunArchive(DbClock clock) {
        this.clock = clock;
    }

    public static List<UUID> workspaces(Connection c) throws SQLException {
        return ArchiveQueries.WORKSPACES.on(c).all(row -> ViewLoader.uuid(row, "id"));
    }

    /** Runs of a workspace that ended that long ago and that nothing holds, the oldest first. */
    public List<Due> due(Connection c, UUID workspace, Duration age, Due after, int most) throws SQLException {
        byIndexes(c);
        return ArchiveQueries.RUNS_DUE.on(c).at(clock).set("workspace", workspace).set("age", age.toMillis())
                .set("created", after.createdAt()).set("after", after.runId()).set("limit", most)
                .all(row -> new Due(ViewLoader.uuid(row, "id"), Rows.time(row, "created_at")));
    }

    /**
     * The progress of the archive.
     *
     * @param overdue a run that should have moved; null if absent
     * @param last the last move of a run; null if no run has moved
     */
    public record Progress(@Nullable UUID overdue, @Nullable Instant last) {}

    /** The oldest run that ended that long ago and that nothing holds, and the last move, of all workspaces. */
    public Progress progress(Connection c, Duration age) throws SQLException {
        UUID overdue = null;
        for (UUID workspace : workspaces(c)) {
            List<Due> found = due(c, workspace, age, Due.NONE, 1);
            overdue = overdue != null || found.isEmpty() ? overdue : found.getFirst().runId();
        }
        return new Progress(overdue, ArchiveQueries.LAST_MOVE.on(c)
                .first(row -> Rows.time(row, "last")).orElse(null));
    }

    /**
     * Reads a run as it is; the transaction has one snapshot.
     *
     * @param columns of some time before; the move compares the rows by the columns of its own time
     * @return empty if the run has more bytes than a part of the archive may have, or is gone
     */
    public static Optional<Packed> pack(Connection c, TableColumns columns, UUID workspace, UUID run)
            throws SQLException, IOException {
        texts(c);
        Optional<String> document = ArchivedRunReader.document(c, workspace, run);
        if (document.isEmpty()) {
            return Optional.empty();
        }
        try {
            ArchivedRows.Run read = new ArchivedRows(c, columns).read(workspace, run);
            return Optional.of(new Packed(workspace, run, read.content(), read.sums(), read.parts(), document.get()));
        } catch (ArchivedRows.TooLargeException e) {
            return Optional.empty();
        }
    }

    /**
     * Replaces the rows of runs by the stored object, within a transaction of the isolation level repeatable read. Leaves out runs that
     * have changed since they were read.
     *
     * @return the runs that are archived now
     */
    public List<UUID> move(Connection c, UUID object, StoredArtifact file, List<Part> parts, Duration age)
            throws SQLException, IOException {
        texts(c);
        ArchivedRows rows = new ArchivedRows(c, TableColumns.of(c));
        List<Part> same = new ArrayList<>();
        for (Part part : parts.stream().sorted(Comparator.comparing(each -> each.run.runId().toString())).toList()) {
            UUID run = part.run.runId();
            if (ArchiveQueries.LOCK.on(c).set("run", run).exists()
                    && ArchiveQueries.STILL_DUE.on(c).at(clock).set("run", run).set("age", age.toMillis()).exists()
                    && rows.sums(run).equals(part.run.sums())) {
                same.add(part);
            }
        }
        if (!same.isEmpty()) {
            ArchiveQueries.ADD_OBJECT.on(c).at(clock).set("id", object)
                    .set("workspace", same.getFirst().run.workspaceId())
                    .set("key", file.storageKey()).set("size", file.sizeBytes()).set("sha256", file.sha256())
                    .set("runs", same.size()).update();
        }
        for (Part part : same) {
            replace(c, object, part);
        }
        return same.stream().map(each -> each.run.runId()).toList();
    }

    private void replace(Connection c, UUID object, Part part) throws SQLException {
        UUID run = part.run.runId();
        ArchiveQueries.ADD_RUN.on(c).at(clock).set("object", object).set("first", part.firstByte)
                .set("size", (long) part.run.content().length).set("sha256", part.sha256)
                .set("document", part.run.document()).setUuids("parts", part.run.parts()).set("run", run).update();
        ArchiveQueries.ADD_FILES.on(c).set("run", run).update();
        ArchiveQueries.DELETE_EVENTS.on(c).set("run", run).one(row -> row.getInt("gone"));
        for (RunTables.Table table : RunTables.ALL.reversed()) {
            if (!table.events()) {
                delete(c, table, run);
            }
        }
    }

    private static void delete(Connection c, RunTables.Table table, UUID run) throws SQLException {
        try (PreparedStatement statement =
                c.prepareStatement("delete from " + table.name() + " t where " + table.condition())) {
            for (int i = 1; i <= table.parameters(); i++) {
                statement.setObject(i, run);
            }
            statement.executeUpdate();
        }
    }

    /** The place of an archived run; empty if the workspace has no such one. */
    public static Optional<Place> find(Connection c, UUID workspace, UUID run) throws SQLException {
        return ArchiveQueries.RUN.on(c).set("workspace", workspace).set("run", run).first(RunArchive::place);
    }

    /** The archived run with that task, step, ticket, proposal or report. */
    public static Optional<Place> findPart(Connection c, UUID workspace, UUID part) throws SQLException {
        return ArchiveQueries.OF_PART.on(c).set("workspace", workspace).set("part", part).first(RunArchive::place);
    }

    /** A run and those whose outputs it reads, these first. */
    public static List<Place> withSources(Connection c, Place run) throws SQLException {
        List<Place> chain = new ArrayList<>(List.of(run));
        Set<UUID> seen = new HashSet<>(Set.of(run.runId()));
        @Nullable UUID next = run.readsFrom();
        while (next != null && seen.add(next)) {
            Optional<Place> source = find(c, run.workspaceId(), next);
            source.ifPresent(each -> chain.addFirst(each));
            next = source.map(Place::readsFrom).orElse(null);
        }
        return chain;
    }

    /** Archived runs of a workspace by their ids. */
    public static List<Place> page(Connection c, UUID workspace, @Nullable UUID after, int most) throws SQLException {
        return ArchiveQueries.PAGE.on(c).set("workspace", workspace).set("after", after == null ? FIRST : after)
                .set("limit", most).all(RunArchive::place);
    }

    /** Inserts the rows of an archived run, for a transaction that takes them back. */
    public static void recall(Connection c, Place run, byte[] content) throws SQLException, IOException {
        new ArchivedContent(run.runId(), content).insert(c);
    }

    /** Compares the content of a run with its manifest; returns the number of its rows. */
    public static long verify(Place run, byte[] content) throws IOException {
        return new ArchivedContent(run.runId(), content).verify();
    }

    /**
     * Inserts the rows of an archived run again, and removes it from the archive. An external id that another run has taken over stays
     * with that run.
     *
     * @param by the principal
     * @return whether it was archived
     */
    public boolean restore(Connection c, Place run, byte[] content, String by) throws SQLException, IOException {
        if (!ArchiveQueries.LOCK_RUN.on(c).set("workspace", run.workspaceId()).set("run", run.runId()).exists()) {
            return false;
        }
        new ArchivedContent(run.runId(), content).insert(c);
        ArchiveQueries.FORGET_RUN.on(c).set("run", run.runId()).update();
        ArchiveQueries.NOTE_RESTORED.on(c).at(clock).set("run", run.runId()).set("workspace", run.workspaceId())
                .set("by", by).update();
        ArchiveQueries.FORGET_OBJECT.on(c).set("object", run.objectId()).update();
        return true;
    }

    /**
     * Deletes archived runs that ended that long ago. Their objects become unreferenced content of the store with their last run.
     *
     * @return the number of runs
     */
    public int expire(Connection c, UUID workspace, Duration age, int most) throws SQLException {
        List<UUID> runs = new ArrayList<>();
        Set<UUID> objects = new HashSet<>();
        List<Instant> ends =
                ArchiveQueries.EXPIRED.on(c).at(clock).set("workspace", workspace).set("age", age.toMillis())
                        .set("limit", most).all(row -> {
                            runs.add(ViewLoader.uuid(row, "id"));
                            objects.add(ViewLoader.uuid(row, "object_id"));
                            return Rows.time(row, "completed_at");
                        });
        if (!runs.isEmpty()) {
            ArchiveQueries.LOCK_OBJECTS.on(c).setUuids("objects", objects).all(row -> true);
            ArchiveQueries.FORGET_RUNS.on(c).setUuids("runs", runs).update();
            ArchiveQueries.FORGET_OBJECTS.on(c).setUuids("objects", objects).update();
            ArchiveQueries.NOTE_EXPIRED.on(c).set("workspace", workspace).set("before", ends.getLast()).update();
        }
        return runs.size();
    }

    /** Removes files from the list that the store must keep. */
    public int expireFiles(Connection c, int most) throws SQLException {
        return ArchiveQueries.EXPIRED_FILES.on(c).at(clock).set("limit", most).update();
    }

    public static Use use(Connection c, UUID workspace) throws SQLException {
        return ArchiveQueries.USE.on(c).set("workspace", workspace).one(row -> new Use(row.getLong("runs"),
                row.getInt("objects"), row.getLong("bytes"), Rows.optionalTime(row, "oldest"),
                Rows.optionalTime(row, "newest")));
    }

    private static Place place(ResultSet row) throws SQLException {
        return new Place(ViewLoader.uuid(row, "workspace_id"), ViewLoader.uuid(row, "id"),
                ViewLoader.uuid(row, "object_id"),
                row.getString("storage_key"), row.getLong("first_byte"), row.getInt("size_bytes"),
                row.getString("sha256"),
                Rows.time(row, "archived_at"), ViewLoader.uuidOrNull(row, "reads_from"));
    }

    /** Values as texts are the same in any session. */
    private static void texts(Connection c) throws SQLException {
        byIndexes(c);
        execute(c, "set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; set local bytea_output = 'hex'");
    }

    /** A plan that was made on empty tables would read whole tables. */
    private static void byIndexes(Connection c) throws SQLException {
        execute(c, "set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off");
    }

    private static void execute(Connection c, String sql) throws SQLException {
        try (Statement statement = c.createStatement()) {
            statement.execute(sql);
        }
    }
}
