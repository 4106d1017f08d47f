package io.keelson.server.engine.store.retention;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Ends events: some time after their run they move to the archive, and later into files.
 * Methods use the given connection and do not commit.
 */
public final class EventRetention {

    /**
     * The result of one search, in the order of packs.
     *
     * @param last the pack after which to continue; null where all further ones are younger
     */
    public record Found(List<Ended> runs, @Nullable Long last) {}

    /** A run whose retention has ended. */
    public record Ended(UUID workspaceId, UUID runId) {}

    /**
     *
     * Events as text.
     *
     * @param lines JSON, one event each
     * @param lastSeq of the last one; 0 if absent
     * @param count of the lines
     */
    public record Lines(byte[] lines, long firstSeq, long lastSeq, int count) {}

    /** A file of a run's events, JSON Lines, all from the first to the last. */
    public record File(long firstSeq, long lastSeq, long sizeBytes, String sha256, String storageKey) {}

    /** A file that is the only copy of its events. */
    public record Export(File file, Instant exportedAt) {}

    private static final String OLD_PACKS = """
            select page.id, r.workspace_id, page.run_id,
                page.created_at > long_ago.at as young, r.state_type = 'terminal' and r.completed_at <= long_ago.at as over
              from (select p.id, p.run_id, p.created_at from %s p where p.id > ? order by p.id limit ?) page
              join orchestration_runs r on r.id = page.run_id
             cross join (select {now} - ? * interval '1 millisecond' as at) long_ago
             order by page.id""".replace("{now}", DbClock.SQL);

    private static final String HOT = OLD_PACKS.formatted("run_event_packs");

    private static final String ARCHIVED = OLD_PACKS.formatted("run_event_packs_archive");

    private static final String ARCHIVE = "select keelson_archive_events(?, ?)";

    /** Only of a run without events that are yet to be archived. */
    private static final String READ = """
            select e.seq, (to_jsonb(e) - '{pack_id,pack_seq}'::text[])::text as line
              from (select ?::uuid as run_id, ?::bigint as seq) after
              join orchestration_events_kept e on e.run_id = after.run_id and e.pack_seq > after.seq - 100
               and e.seq > after.seq
             where not exists (select from run_event_packs p where p.run_id = after.run_id)
             order by e.pack_seq, e.seq limit ?""";

    private static final String EXPORTED = """
            insert into event_exports (id, workspace_id, run_id, first_seq, last_seq, events, size_bytes, sha256,
                storage_key, exported_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, {now})""".replace("{now}", DbClock.SQL);

    private static final String FORGET = "select keelson_export_events(?, ?, ?)";

    private static final String EXPORTS = """
            select x.first_seq, x.last_seq, x.size_bytes, x.sha256, x.storage_key, x.exported_at
              from event_exports x
             where (x.workspace_id = ?) is true and x.run_id = ?
             order by x.first_seq""";

    private static final String TRY_LOCK = "select pg_try_advisory_xact_lock(hashtextextended('keelson events', 0))";

    private final DbClock clock;

    public EventRetention(DbClock clock) {
        this.clock = clock;
    }

    /** Takes the lock of event retention until the transaction ends; false when another node has it. */
    public boolean mine(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(TRY_LOCK); ResultSet row = s.executeQuery()) {
            return row.next() && row.getBoolean(1);
        }
    }

    /**
     * Searches the next packs of events for runs that ended before that age.
     *
     * @param archived whether in the archive, instead of among the newer ones
     * @param after the pack after which to continue; 0 for the first
     */
    public Found ended(Connection c, boolean archived, Duration age, long after, int most) throws SQLException {
        List<Ended> runs = new ArrayList<>();
        Long last = null;
        try (PreparedStatement s = c.prepareStatement(archived ? ARCHIVED : HOT)) {
            s.setLong(1, after);
            s.setInt(2, most);
            clock.bind(s, 3);
            s.setLong(4, age.toMillis());
            try (ResultSet row = s.executeQuery()) {
                while (row.next()) {
                    if (row.getBoolean("young")) {
                        return new Found(runs, null); // all further events are at least as young
                    }
                    last = row.getLong("id");
                    Ended each = new Ended(ViewLoader.uuid(row, "workspace_id"), ViewLoader.uuid(row, "run_id"));
                    if (row.getBoolean("over") && !runs.contains(each)) {
                        runs.add(each);
                    }
                }
            }
        }
        return new Found(runs, last);
    }

    /** Moves packs of a run to the archive until they have so many events; returns the number of events. */
    public int archive(Connection c, UUID run, int enough) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(ARCHIVE)) {
            s.setObject(1, run);
            s.setInt(2, enough);
            try (ResultSet row = s.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    /** The next archived events of a run; none while some of its events are not archived. */
    public Lines lines(Connection c, UUID run, long after, int most) throws SQLException {
        StringBuilder lines = new StringBuilder();
        long first = 0;
        long last = 0;
        int count = 0;
        try (PreparedStatement s = c.prepareStatement(READ)) {
            s.setObject(1, run);
            s.setLong(2, after);
            s.setInt(3, most);
            try (ResultSet row = s.executeQuery()) {
                while (row.next()) {
                    last = row.getLong("seq");
                    first = first == 0 ? last : first;
                    lines.append(row.getString("line")).append('\n');
                    count++;
                }
            }
        }
        return new Lines(lines.toString().getBytes(StandardCharsets.UTF_8), first, last, count);
    }

    /** Records a file and deletes its events from the archive. The time of the export is the database's. */
    public void exported(Connection c, UUID id, Ended of, File file) throws SQLException {
        long first = file.firstSeq();
        long last = file.lastSeq();
        try (PreparedStatement s = c.prepareStatement(EXPORTED)) {
            s.setObject(1, id);
            s.setObject(2, of.workspaceId());
            s.setObject(3, of.runId());
            s.setLong(4, first);
            s.setLong(5, last);
            s.setLong(6, last - first + 1);
            s.setLong(7, file.sizeBytes());
            s.setString(8, file.sha256());
            s.setString(9, file.storageKey());
            clock.bind(s, 10);
            s.executeUpdate();
        }
        try (PreparedStatement s = c.prepareStatement(FORGET)) {
            s.setObject(1, of.runId());
            s.setLong(2, first);
            s.setLong(3, last);
            s.executeQuery().close();
        }
    }

    /** The files of a run's events, in their order. */
    public static List<Export> exports(Connection c, UUID workspaceId, UUID runId) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(EXPORTS)) {
            s.setObject(1, workspaceId);
            s.setObject(2, runId);
            List<Export> found = new ArrayList<>();
            try (ResultSet row = s.executeQuery()) {
                while (row.next()) {
                    found.add(new Export(new File(row.getLong("first_seq"), row.getLong("last_seq"),
                            row.getLong("size_bytes"), row.getString("sha256"), row.getString("storage_key")),
                            Rows.time(row, "exported_at")));
                }
            }
            return found;
        }
    }
}
