package io.keelson.server.tenant.money;

import io.keelson.server.base.db.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads a workspace's ledger, a stretch at a time. */
public final class LedgerReader {

    /**
     * Which entries.
     *
     * @param type null for all
     * @param from inclusive; null for the beginning
     * @param to exclusive; null for no end
     */
    public record Filter(@Nullable String type, @Nullable Instant from, @Nullable Instant to) {}

    private static final String MATCHING = """
            select {columns} from billing_ledger
             where workspace_id = ? and (?::text is null or transaction_type = ?)
               and (?::timestamptz is null or created_at >= ?) and (?::timestamptz is null or created_at < ?)"""
            .replace("{columns}", LedgerRows.COLUMNS);

    private static final String NEWEST_FIRST = MATCHING + " and id < ? order by id desc limit ?";

    private static final String OLDEST_FIRST = MATCHING + " and id > ? order by id limit ?";

    private static final String OF_RUN = """
            select {columns} from billing_ledger
             where run_id = ? and (workspace_id = ?) is true and id > ? order by id limit ?"""
            .replace("{columns}", LedgerRows.COLUMNS);

    private final Database database;

    LedgerReader(Database database) {
        this.database = database;
    }

    /** @param before id that is above all of them; null for the newest */
    public List<LedgerRow> newestFirst(UUID workspace, Filter filter, @Nullable Long before, int limit) {
        long edge = before == null ? Long.MAX_VALUE : before;
        return database.withConnection(c -> matching(c, NEWEST_FIRST, workspace, filter, edge, limit));
    }

    /** @param after id that is below all of them; 0 for the oldest */
    public List<LedgerRow> oldestFirst(UUID workspace, Filter filter, long after, int limit) {
        return database.withConnection(c -> matching(c, OLDEST_FIRST, workspace, filter, after, limit));
    }

    /** The reservations, charges and refunds of a run, oldest first. */
    public List<LedgerRow> ofRun(UUID workspace, UUID run, long after, int limit) {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(OF_RUN)) {
                read.setObject(1, run);
                read.setObject(2, workspace);
                read.setLong(3, after);
                read.setInt(4, limit);
                return LedgerRows.list(read);
            }
        });
    }

    private static List<LedgerRow> matching(Connection c, String sql, UUID workspace, Filter filter, long edge,
            int limit) throws SQLException {
        try (PreparedStatement read = c.prepareStatement(sql)) {
            read.setObject(1, workspace);
            read.setString(2, filter.type);
            read.setString(3, filter.type);
            bind(read, 4, filter.from);
            bind(read, 6, filter.to);
            read.setLong(8, edge);
            read.setInt(9, limit);
            return LedgerRows.list(read);
        }
    }

    /** Twice, for a condition that holds when there is none. */
    private static void bind(PreparedStatement read, int position, @Nullable Instant time) throws SQLException {
        for (int p = position; p < position + 2; p++) {
            read.setObject(p, time == null ? null : time.atOffset(ZoneOffset.UTC), Types.TIMESTAMP_WITH_TIMEZONE);
        }
    }
}
