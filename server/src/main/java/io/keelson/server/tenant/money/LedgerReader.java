package io.keelson.server.tenant.money;

import io.keelson.api.money.LedgerEntry;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
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

    private static final String MATCHING =
            """
            select {columns} from billing_ledger
             where workspace_id = :workspace and (:type::text is null or transaction_type = :type)
               and (:from::timestamptz is null or created_at >= :from) and (:to::timestamptz is null or created_at < :to)"""
                    .replace("{columns}", LedgerRows.COLUMNS);

    private static final Sql NEWEST_FIRST = Sql.of(MATCHING + " and id < :edge order by id desc limit :limit");

    private static final Sql OLDEST_FIRST = Sql.of(MATCHING + " and id > :edge order by id limit :limit");

    private static final Sql OF_RUN = Sql.of("""
            select {columns} from billing_ledger
             where run_id = :run and (workspace_id = :workspace) is true and id > :after order by id limit :limit"""
            .replace("{columns}", LedgerRows.COLUMNS));

    private static final Sql SUMS = Sql.of("""
            select transaction_type as type, count(*) as entries, sum(amount) as amount from billing_ledger
             group by transaction_type order by transaction_type""");

    /**
     * Entries of one type, of all workspaces.
     *
     * @param amount sum of their amounts
     */
    public record TypeSum(String type, long entries, BigDecimal amount) {}

    private final Database database;

    LedgerReader(Database database) {
        this.database = database;
    }

    /** Sums of the whole ledger by type, in the connection's snapshot. */
    public static List<TypeSum> sums(Connection c) throws SQLException {
        return SUMS.on(c).all(RecordColumns.of(TypeSum.class));
    }

    /** @param before id that is above all of them; null for the newest */
    public List<LedgerEntry> newestFirst(UUID workspace, Filter filter, @Nullable Long before, int limit) {
        long edge = before == null ? Long.MAX_VALUE : before;
        return database.withConnection(c -> matching(c, NEWEST_FIRST, workspace, filter, edge, limit));
    }

    /** @param after id that is below all of them; 0 for the oldest */
    public List<LedgerEntry> oldestFirst(UUID workspace, Filter filter, long after, int limit) {
        return database.withConnection(c -> matching(c, OLDEST_FIRST, workspace, filter, after, limit));
    }

    /** The reservations, charges and refunds of a run, oldest first. */
    public List<LedgerEntry> ofRun(UUID workspace, UUID run, long after, int limit) {
        return database.withConnection(c -> OF_RUN.on(c).set("run", run).set("workspace", workspace).set("after", after)
                .set("limit", limit).all(LedgerRows::entry));
    }

    private static List<LedgerEntry> matching(Connection c, Sql sql, UUID workspace, Filter filter, long edge,
            int limit) throws SQLException {
        return sql.on(c).set("workspace", workspace).set("type", filter.type).set("from", filter.from)
                .set("to", filter.to).set("edge", edge).set("limit", limit).all(LedgerRows::entry);
    }
}
