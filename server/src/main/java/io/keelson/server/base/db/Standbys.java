package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Standbys of the database, as far as its user may read their state. Subscribers of logical replication do not count.
 *
 * @param visible whether the user may read their state ({@code pg_read_all_stats}); without it the counts are 0
 * @param wanted whether the settings of the database name synchronous standbys
 * @param synchronous connected standbys that commits wait for
 * @param asynchronous other connected standbys
 * @param lagBytes WAL that a standby has not replayed, at most; 0 without a standby
 * @param lagSeconds time from a commit to its replay by a standby, at most; 0 without a standby
 */
public record Standbys(boolean visible, boolean wanted, int synchronous, int asynchronous, double lagBytes,
        double lagSeconds) {

    /** A standby that is farther behind needs an operator. */
    public static final long BEHIND_BYTES = 1L << 30;

    private static final Sql READ = Sql.of("""
            select pg_has_role('pg_read_all_stats', 'usage') as visible,
                current_setting('synchronous_standby_names') <> '' as wanted,
                count(*) filter (where r.sync_state in ('sync', 'quorum'))::integer as synchronous,
                count(*) filter (where r.sync_state in ('async', 'potential'))::integer as asynchronous,
                coalesce(max(greatest(0, pg_wal_lsn_diff(case when not pg_is_in_recovery() then pg_current_wal_lsn() end,
                    r.replay_lsn))), 0)::float8 as lag_bytes,
                coalesce(extract(epoch from max(r.replay_lag)), 0)::float8 as lag_seconds
              from pg_stat_replication r left join pg_replication_slots s on s.active_pid = r.pid
             where r.state in ('streaming', 'catchup') and s.slot_type is distinct from 'logical'""");

    /** Reads it from the shared memory of PostgreSQL. */
    public static Standbys read(Connection c) throws SQLException {
        return READ.on(c).one(row -> new Standbys(row.getBoolean("visible"), row.getBoolean("wanted"),
                row.getInt("synchronous"), row.getInt("asynchronous"), row.getDouble("lag_bytes"),
                row.getDouble("lag_seconds")));
    }

    /** A warning where no standby is synchronous, so that a failover may lose commits; null where there is no standby. */
    public static @Nullable String warning(Connection c) throws SQLException {
        return read(c).warning();
    }

    /** Why a failover is not safe or would take long; null if absent. */
    public @Nullable String warning() {
        if (!visible) {
            return null;
        }
        if (wanted && synchronous == 0) {
            return "synchronous_standby_names is set, and no synchronous standby is connected: commits wait for it";
        }
        if (asynchronous > 0 && synchronous == 0) {
            return "none of " + asynchronous + " standbys is synchronous: a failover may lose acknowledged changes;"
                    + " set synchronous_standby_names";
        }
        return lagBytes < BEHIND_BYTES ? null
                : String.format(Locale.ROOT, "a standby has not replayed %,d MB of WAL: a failover to it takes long",
                        (long) lagBytes / 1_000_000);
    }
}
