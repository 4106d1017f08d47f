package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The condition of a PostgreSQL and of one of its databases, for its operator. Values that the user may not read are NaN.
 *
 * @param timeline number of the history of the database, which a failover raises; NaN for a standby
 * @param bytes size of the database
 * @param standbys of the whole PostgreSQL
 * @param oldestTransaction age of the oldest open or prepared transaction in this database, in seconds; 0 without one. Without
 *            {@code pg_read_all_stats}, sessions of other users do not count
 * @param archiveBytes WAL that is not archived, the present segment included; NaN if the database archives none
 * @param archiveFailing whether the last attempt to archive a segment failed
 */
public record DatabaseState(double timeline, double bytes, Standbys standbys, double oldestTransaction,
        double archiveBytes, boolean archiveFailing) {

    /** An older transaction needs an operator: autovacuum keeps all rows that were deleted since. */
    public static final long OLD_TRANSACTION_SECONDS = 3_600;
    /** More WAL that is not archived needs an operator: 16 segments of the usual size. */
    public static final long ARCHIVE_BEHIND_BYTES = 256L << 20;

    /**
     * Only the size reads files: their directory entries. The archiver's statistics name a segment, a file of a backup, which begins with
     * the name of a segment, or a history, whose name contains no position.
     */
    private static final Sql READ = Sql.of("""
            with wal as materialized (
                select case when not pg_is_in_recovery() then pg_current_wal_lsn() end as position,
                    pg_size_bytes(current_setting('wal_segment_size')) as segment),
            archiver as (
                select coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as failing,
                    case when last_archived_wal ~ '^[0-9A-F]{24}' then last_archived_wal end as last
                  from pg_stat_archiver where current_setting('archive_mode') <> 'off')
            select ('x' || left(case when position is not null then pg_walfile_name(position) end, 8))::bit(32)::bigint::float8
                    as timeline,
                pg_database_size(current_database())::float8 as bytes,
                (select greatest(0, extract(epoch from clock_timestamp() - min(began)))::float8
                   from (select xact_start from pg_stat_activity
                          where datname = current_database() and backend_type = 'client backend'
                          union all
                         select prepared from pg_prepared_xacts where database = current_database()) t (began))
                    as oldest_transaction,
                (select case when last is null and not failing then 0
                        else greatest(0, pg_wal_lsn_diff(position, '0/0')
                            - coalesce(('x' || substr(last, 9, 8))::bit(32)::bigint * 4294967296
                                + (('x' || substr(last, 17, 8))::bit(32)::bigint + 1) * segment, 0)) end::float8
                   from archiver) as archive_bytes,
                coalesce((select failing from archiver), false) as archive_failing
              from wal""");

    /** Reads it in two statements. */
    public static DatabaseState read(Connection c) throws SQLException {
        Standbys standbys = Standbys.read(c);
        return READ.on(c).one(row -> new DatabaseState(read(row, "timeline"), read(row, "bytes"), standbys,
                read(row, "oldest_transaction"), read(row, "archive_bytes"), row.getBoolean("archive_failing")));
    }

    private static double read(ResultSet row, String column) throws SQLException {
        double value = row.getDouble(column);
        return row.wasNull() ? Double.NaN : value;
    }
}
